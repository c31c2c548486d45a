/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A choice of virtual times: a condition on the key of a token, with whole numbers only. Its words
 * are in the order of evaluation, operands first: `vt % 10 == 0` is
 *	vt, 10, %, 0, ==
 *
 * The result depends on the key only, so that all contributors drop the same keys. So a node with a
 * choice may run at the sources, and dropped keys cost nothing at other daemons.
 */
#ifndef COMMON_FLOW_GRAPH_CHOICE_H
#define COMMON_FLOW_GRAPH_CHOICE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enough for a list of 256 virtual times; each event evaluates all words */
#define CHOICE_WORDS_MAX 1024
#define CHOICE_DEPTH_MAX 128 /* depth of the stack of values: twice PMSL_DEPTH_MAX */
/* limit of a printed choice with all its parentheses */
#define CHOICE_TEXT_MAX_BYTES (64 * 1024)
#define CHOICE_VT_WORD "vt" /* the virtual time in the text of a graph */

enum choice_kind { CHOICE_VT, CHOICE_NUMBER, CHOICE_OP };

struct choice_word {
	enum choice_kind kind;
	unsigned op; /* OP: an enum flow_op that choice_takes() accepts */
	int64_t number; /* NUMBER: the number; VT: is added to the key */
};

struct flow_choice {
	const struct choice_word *v;
	size_t n;
};

/* True for the operators of choices: + - % neg, the comparisons, and, or, not. */
bool choice_takes(unsigned op);

/*
 * Fails with ERR_INVALID, ERR_LIMIT; e has the reason. The functions below require a valid choice.
 */
int choice_check(const struct flow_choice *c, struct err *e);

/*
 * True if the choice has the key. Also false if an intermediate number does not fit into 64 bits,
 * and after `% 0`. Any thread.
 */
bool choice_has(const struct flow_choice *c, int64_t key);

bool choice_equal(const struct flow_choice *a, const struct flow_choice *b);

/* Appends a text such as "(vt % 10) == 0", for drawings and lists. */
void choice_print(const struct flow_choice *c, struct buf *out);

#endif
