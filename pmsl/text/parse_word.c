/* SPDX-License-Identifier: Apache-2.0 */
/* Reading words for the parser: lookahead, consumption, errors. */
#include "common/base/limits.h"
#include "pmsl/text/parsing.h"

#include <stdarg.h>
#include <stdio.h>

void pmsl_take(struct pmsl_parser *p)
{
	p->end = p->word.at + p->word.len;
	p->word = p->next;
	if (p->next.kind != PMSL_W_END)
		pmsl_lex(&p->lex, &p->next);
}

bool pmsl_is_mark(const struct pmsl_parser *p, unsigned mark)
{
	return p->word.kind == PMSL_W_MARK && p->word.sub == mark;
}

bool pmsl_is_keyword(const struct pmsl_parser *p, unsigned keyword)
{
	return p->word.kind == PMSL_W_KEYWORD && p->word.sub == keyword;
}

bool pmsl_accept(struct pmsl_parser *p, unsigned mark)
{
	if (!pmsl_is_mark(p, mark))
		return false;
	pmsl_take(p);
	return true;
}

bool pmsl_accept_keyword(struct pmsl_parser *p, unsigned keyword)
{
	if (!pmsl_is_keyword(p, keyword))
		return false;
	pmsl_take(p);
	return true;
}

bool pmsl_lost(struct pmsl_parser *p, uint32_t at, uint32_t len, const char *fmt, ...)
{
	char text[PMSL_DIAG_TEXT_BYTES];
	va_list ap;

	if (p->is_lost)
		return false;
	p->is_lost = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pmsl_error(p->d, at, len, "%s", text);
	return false;
}

void pmsl_expected(struct pmsl_parser *p, const char *what)
{
	const struct pmsl_word *w = &p->word;
	int n = w->len > 40 ? 40 : (int)w->len;

	if (w->kind == PMSL_W_END)
		pmsl_lost(p, w->at, 1, "expected %s, but the text ends", what);
	else
		pmsl_lost(p, w->at, w->len, "expected %s, found '%.*s'", what, n,
			  p->lex.s->text + w->at);
}

bool pmsl_expect(struct pmsl_parser *p, unsigned mark, const char *what)
{
	if (pmsl_accept(p, mark))
		return true;
	pmsl_expected(p, what);
	return false;
}

void *pmsl_make(struct pmsl_parser *p, size_t bytes)
{
	void *made = arena_alloc(p->arena, bytes);

	p->is_nomem |= !made;
	p->is_lost |= !made;
	return made;
}

char *pmsl_copy_word(struct pmsl_parser *p, const struct pmsl_word *w)
{
	char *copy = arena_copy(p->arena, p->lex.s->text + w->at, w->len);

	p->is_nomem |= !copy;
	p->is_lost |= !copy;
	return copy;
}

bool pmsl_parse_indices(struct pmsl_parser *p, struct pmsl_names **out)
{
	unsigned n = 0;

	while (pmsl_accept(p, '[')) {
		if (p->word.kind != PMSL_W_NAME) {
			pmsl_expected(p, "the name of a variable");
			return false;
		}
		if (++n > PMSL_INDICES_MAX)
			return pmsl_lost(p, p->word.at, p->word.len, "more than %d indices",
					 PMSL_INDICES_MAX);
		*out = pmsl_make(p, sizeof(**out));
		if (!*out)
			return false;
		(*out)->at = p->word.at;
		(*out)->name = pmsl_copy_word(p, &p->word);
		out = &(*out)->next;
		pmsl_take(p);
		if (!pmsl_expect(p, ']', "']'"))
			return false;
	}
	return true;
}
