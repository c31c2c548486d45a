/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the parser: converts bytes to words. */
#ifndef PMSL_TEXT_LEX_H
#define PMSL_TEXT_LEX_H

#include "pmsl/text/diag.h"
#include "pmsl/text/source.h"

enum pmsl_word_kind {
	PMSL_W_END,
	PMSL_W_NAME,
	PMSL_W_NUMBER,
	PMSL_W_STRING, /* between the quotes; no escapes */
	PMSL_W_MARK, /* punctuation: `sub` is the character or one of the pairs below */
	PMSL_W_KEYWORD, /* in `sub`: enum pmsl_keyword */
	PMSL_W_FOLD, /* in `sub`: enum pmsl_fold */
};

/* Marks of two characters. */
enum { PMSL_M_EQ = 256, PMSL_M_NE, PMSL_M_LE, PMSL_M_GE };

enum pmsl_keyword {
	PMSL_K_RETURN,
	PMSL_K_PROBE,
	PMSL_K_AT,
	PMSL_K_WHERE,
	PMSL_K_IN,
	PMSL_K_AND,
	PMSL_K_OR,
	PMSL_K_NOT,
	PMSL_K_IF,
	PMSL_KEYWORDS
};

struct pmsl_word {
	enum pmsl_word_kind kind;
	unsigned sub;
	uint32_t at, len; /* in the text */
	double number;
	bool is_integer;
};

struct pmsl_lexer {
	const struct pmsl_source *s;
	struct pmsl_diags *d; /* characters outside of words are reported here, and skipped */
	size_t at;
};

void pmsl_lex(struct pmsl_lexer *l, struct pmsl_word *out);

#endif
