/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netstage.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/lifeline/lifewords.h"

#include <string.h>

/* Objects of interaction/weave that are not regions, and their meaning in words. */
static const struct {
	const char *name, *words;
} states[] = {
	{ "wait", ", in a wait for what is not of the interaction" },
	{ "before", ", before its first event of it" },
	{ "message", ", in a collective call" },
	{ "queued", "" },
	{ "uncertain", "" },
};

static size_t length(const char *s)
{
	return strcspn(s, "+");
}

static bool is(const char *s, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(s, word, n);
}

static bool is_rank(const char *s, size_t n)
{
	return n > 4 && !memcmp(s, "rank", 4) && strspn(s + 4, "0123456789") >= n - 4;
}

static const char *state_of(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (is(s, n, states[i].name))
			return states[i].words;
	return NULL;
}

static const char *next(const char *s)
{
	s += length(s);
	return *s ? s + 1 : s;
}

static const char *find_rank(const char *uses)
{
	for (; *uses; uses = next(uses))
		if (is_rank(uses, length(uses)))
			return uses;
	return NULL;
}

bool netstage_is_one(const char *uses)
{
	return find_rank(uses) != NULL;
}

void netstage_put(struct buf *out, const char *uses, int64_t ns, int64_t all)
{
	const char *rank = find_rank(uses);
	char time[LIFEWORDS_TIME_BYTES];

	if (!rank || all <= 0)
		return;
	buf_printf(out, "The slow stage: rank %.*s", (int)length(rank) - 4, rank + 4);
	for (const char *s = uses; *s; s = next(s))
		if (s != rank && !state_of(s, length(s)))
			buf_printf(out, ", region %.*s", (int)length(s), s);
	for (const char *s = uses; *s; s = next(s))
		if (state_of(s, length(s)))
			buf_puts(out, state_of(s, length(s)));
	buf_printf(out, ": %s, %.1f %%.\n", lifewords_time(time, ns),
		   (double)ns * 100 / (double)all);
}
