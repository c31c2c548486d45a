/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": the one of some names that a user may have meant. */
#ifndef COMMON_CLI_NEAREST_H
#define COMMON_CLI_NEAREST_H

/*
 * The name among those tried that looks most like `name`; NULL when none does. Letters of
 * another case and one slip in three are near.
 */
struct nearest {
	const char *name; /* what is looked for */
	const char *best; /* so far; NULL = none */
	unsigned distance; /* of best */
};

struct nearest nearest_to(const char *name);
void nearest_try(struct nearest *n, const char *candidate);

#endif
