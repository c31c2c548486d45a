/* SPDX-License-Identifier: Apache-2.0 */
/* For the parser: a cursor over the text, and its remaining limits. */
#ifndef COMMON_OMIS_TEXT_LEX_H
#define COMMON_OMIS_TEXT_LEX_H

#include "common/base/buf.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/value.h"

#define LEX_STACK_FIRST 32

/* Memory for one text: OMIS_VALUES_MAX values, their stack and their names. */
#define LEX_HEAP_MAX_BYTES (24 * 1024 * 1024)

struct lex {
	const char *p;
	size_t n, at;
	struct arena *arena;
	struct err *e;
	size_t values_left; /* number of values that the text may still have */
	unsigned depth; /* number of open lists */
	/*
	 * Values of the open lists, the innermost on top. It moves to a larger part of the arena
	 * when it grows.
	 */
	struct omis_value *stack;
	size_t top, cap;
	struct omis_value first[LEX_STACK_FIRST];
};

void lex_init(struct lex *l, struct bytes text, struct arena *arena, size_t values, struct err *e);

/* Sets ERR_PARSE or ERR_LIMIT, with the text and " at offset N". */
int lex_fail(struct lex *l, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int lex_limit(struct lex *l, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int lex_nomem(struct lex *l);

/* Fails with the text "expected WHAT, found 'x'". */
int lex_expected(struct lex *l, const char *what);

void lex_blanks(struct lex *l);

/* Returns the next byte that is not a blank, or -1 at the end, without consuming it. */
static inline int lex_next(struct lex *l)
{
	lex_blanks(l);
	return l->at < l->n ? (unsigned char)l->p[l->at] : -1;
}

/* Consumes c, and returns true, if it is the next byte. */
static inline bool lex_take(struct lex *l, char c)
{
	if (lex_next(l) != (unsigned char)c)
		return false;
	l->at++;
	return true;
}

bool lex_is_letter(int c);
bool lex_is_digit(int c);

/*
 * Reads an identifier in place; *n is 0 if there is none. Fails with ERR_LIMIT beyond
 * NAME_MAX_BYTES.
 */
int lex_word(struct lex *l, const char **p, size_t *n);

/* Reads an INT or FLOAT; or a BINARY if '#' follows the number. */
int lex_number(struct lex *l, struct omis_value *v);

/* Reads 'x' as an INT. */
int lex_char(struct lex *l, struct omis_value *v);
int lex_string(struct lex *l, struct omis_value *v);

/* Reads values into the arena, up to `closer` (0 = the end of the text), which it consumes. */
int lex_params(struct lex *l, char closer, struct omis_value **v, size_t *n);

#endif
