/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A choice of virtual times: a condition on the key of a token, with whole numbers only. Its words
 * are in the order of evaluation, operands first: `vt % 10 == 0` is
 *	vt, 10, %, 0, ==
 *
 * The result depends on the key only, so all contributors drop the same keys. A node with a choice
 * may thus run at the sources, and dropped keys cost nothing above.
 */
#ifndef COMMON_FLOW_GRAPH_CHOICE_H
#define COMMON_FLOW_GRAPH_CHOICE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICE_WORDS_MAX 1024 /* a list of 256 virtual times; each event evaluates them all */
#define CHOICE_DEPTH_MAX 128 /* values that wait for an operator: twice PMSL_DEPTH_MAX */
#define CHOICE_TEXT_MAX_BYTES (64 * 1024) /* printed, with all its parentheses */
#define CHOICE_VT_WORD "vt" /* in the text of a graph */

enum choice_kind { CHOICE_VT, CHOICE_NUMBER, CHOICE_OP };

struct choice_word {
	enum choice_kind kind;
	unsigned op; /* OP: an enum flow_op of choice_takes() */
	int64_t number; /* NUMBER: it. VT: this is added to the key */
};

struct flow_choice {
	const struct choice_word *v;
	size_t n;
};

/* The operators of choices: + - % neg, the comparisons, and, or, not. */
bool choice_takes(unsigned op);

/* ERR_INVALID, ERR_LIMIT with the reason. The functions below require a valid choice. */
int choice_check(const struct flow_choice *c, struct err *e);

/*
 * Returns false also if an intermediate number does not fit into 64 bits, and after `% 0`. Any
 * thread.
 */
bool choice_has(const struct flow_choice *c, int64_t key);

bool choice_equal(const struct flow_choice *a, const struct flow_choice *b);

/* Appends "(vt % 10) == 0", for drawings and lists. */
void choice_print(const struct flow_choice *c, struct buf *out);

#endif
