/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the parser. */
#ifndef PMSL_TEXT_PARSING_H
#define PMSL_TEXT_PARSING_H

#include "pmsl/text/lex.h"
#include "pmsl/text/tree.h"

struct pmsl_parser {
	struct pmsl_lexer lex;
	struct pmsl_word word, next; /* the current word and the next one */
	uint32_t end; /* end of the last consumed word */
	struct pmsl_diags *d;
	struct arena *arena;
	unsigned depth; /* open parentheses, brackets and braces */
	bool is_lost; /* this statement has an error: further ones in it are not reported */
	bool is_nomem;
};

void pmsl_take(struct pmsl_parser *p);
bool pmsl_is_mark(const struct pmsl_parser *p, unsigned mark);
bool pmsl_is_keyword(const struct pmsl_parser *p, unsigned keyword);

/* Consumes the mark if it is next. */
bool pmsl_accept(struct pmsl_parser *p, unsigned mark);
bool pmsl_accept_keyword(struct pmsl_parser *p, unsigned keyword);

/* Consumes the mark, or reports an error: "expected WHAT, found ...". */
bool pmsl_expect(struct pmsl_parser *p, unsigned mark, const char *what);
void pmsl_expected(struct pmsl_parser *p, const char *what);

/* Reports an error, and suppresses others until the statement ends. Always returns false. */
bool pmsl_lost(struct pmsl_parser *p, uint32_t at, uint32_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Allocates in the arena. Returns NULL and sets is_nomem if there is no memory. */
void *pmsl_make(struct pmsl_parser *p, size_t bytes);
char *pmsl_copy_word(struct pmsl_parser *p, const struct pmsl_word *w);

/* Returns NULL after an error that has been reported. */
struct pmsl_expr *pmsl_parse_expr(struct pmsl_parser *p);

/* Parses '[' NAME ']' repeatedly. Returns false after an error. */
bool pmsl_parse_indices(struct pmsl_parser *p, struct pmsl_names **out);

#endif
