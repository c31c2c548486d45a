/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/who.h"

#include <math.h>
#include <string.h>

/* An object is 2 bits of its kind, 32 bits of its number, and 30 bits of a process. */
#define KIND_SHIFT 62
#define NUMBER_SHIFT 30

static const enum token_kind kind_of[] = { TOKEN_NONE, TOKEN_SITE, TOKEN_NODE, TOKEN_PROCESS };

uint64_t who_pack(const char *token)
{
	struct token_parts p;

	if (token_parse(token, strlen(token), &p) || p.number > UINT32_MAX)
		return WHO_NONE;
	for (uint64_t k = 1; k < 4; k++)
		if (kind_of[k] == p.kind)
			return k << KIND_SHIFT | p.number << NUMBER_SHIFT |
			       (p.kind == TOKEN_PROCESS ? p.id : 0);
	return WHO_NONE;
}

const char *who_token(struct token *out, uint64_t object)
{
	struct token_parts p = { .kind = kind_of[object >> KIND_SHIFT],
				 .number = object >> NUMBER_SHIFT & UINT32_MAX,
				 .id = (uint32_t)object & TOKEN_ID_MAX };

	out->s[0] = 0;
	return p.kind == TOKEN_NONE ? out->s : token_print(out, &p);
}

bool who_is_object(uint64_t object)
{
	enum token_kind kind = kind_of[object >> KIND_SHIFT];

	return kind == TOKEN_PROCESS || (kind != TOKEN_NONE && !(object & TOKEN_ID_MAX));
}

bool who_is_before(const struct who *a, const struct who *b, bool least)
{
	if (a->value < b->value)
		return least;
	if (a->value > b->value)
		return !least;
	if (a->object != b->object)
		return a->object < b->object;
	return a->error < b->error;
}

void who_top_add(struct who_top *t, const struct who *w)
{
	uint32_t at = t->n;

	while (at && who_is_before(w, &t->of[at - 1], false))
		at--;
	if (at == WHO_TOP_MAX)
		return;
	t->n += t->n < WHO_TOP_MAX;
	memmove(&t->of[at + 1], &t->of[at], (t->n - 1 - at) * sizeof(*w));
	t->of[at] = *w;
}

void who_top_merge(struct who_top *t, const struct who_top *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		who_top_add(t, &from->of[i]);
}

bool who_is_sane(const struct who *w)
{
	return !isnan(w->value) && w->error >= 0 && who_is_object(w->object);
}

bool who_top_is_sane(const struct who_top *t, uint64_t all)
{
	if (t->n > WHO_TOP_MAX || t->n != (all < WHO_TOP_MAX ? all : WHO_TOP_MAX))
		return false;
	for (uint32_t i = 0; i < t->n; i++)
		if (!who_is_sane(&t->of[i]) ||
		    (i && who_is_before(&t->of[i], &t->of[i - 1], false)))
			return false;
	return true;
}
