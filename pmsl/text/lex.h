/* SPDX-License-Identifier: Apache-2.0 */
/* For the parser: converts characters to words. */
#ifndef PMSL_TEXT_LEX_H
#define PMSL_TEXT_LEX_H

#include "pmsl/text/diag.h"
#include "pmsl/text/source.h"

enum pmsl_word_kind {
	PMSL_W_END,
	PMSL_W_NAME,
	PMSL_W_NUMBER,
	PMSL_W_STRING, /* between the quotes; no escapes */
	/* punctuation: `sub` is the character, or an enumerator below for two characters */
	PMSL_W_MARK,
	PMSL_W_KEYWORD, /* `sub`: enum pmsl_keyword */
	PMSL_W_FOLD, /* `sub`: enum pmsl_fold */
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
	uint32_t at, len; /* position in the text */
	double number;
	bool is_integer;
};

struct pmsl_lexer {
	const struct pmsl_source *s;
	/* receives an error for characters outside of words, which are skipped */
	struct pmsl_diags *d;
	size_t at;
};

void pmsl_lex(struct pmsl_lexer *l, struct pmsl_word *out);

#endif
