/* SPDX-License-Identifier: Apache-2.0 */
/* "did you mean": finds the most similar name of a list. */
#ifndef COMMON_CLI_NEAREST_H
#define COMMON_CLI_NEAREST_H

/*
 * The name, of those that were tried, that is most similar to `name`; NULL if none is. Differences
 * in case, and one typing error in three letters, count as similar.
 */
struct nearest {
	const char *name; /* the name to look for */
	const char *best; /* best match so far; NULL = none */
	unsigned distance; /* distance of `best` */
};

struct nearest nearest_to(const char *name);
void nearest_try(struct nearest *n, const char *candidate);

#endif
