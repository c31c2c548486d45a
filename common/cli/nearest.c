/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/nearest.h"

#include <string.h>

#define NEAREST_NAME_BYTES 64 /* longer names are compared in a time that one would notice */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein; names are short. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NEAREST_NAME_BYTES + 1], n = (unsigned)strlen(b);

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (unsigned j = 1; j <= n; j++) {
			unsigned change = diagonal + (lower(a[i]) != lower(b[j - 1]));
			unsigned step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);

			diagonal = row[j];
			row[j] = change < step ? change : step;
		}
	}
	return row[n];
}

struct nearest nearest_to(const char *name)
{
	size_t n = strlen(name);
	unsigned slips = n < 2 || n > NEAREST_NAME_BYTES ? 0 : n < 6 ? 1 : (unsigned)n / 3;

	return (struct nearest){ .name = name, .distance = slips + 1 };
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t have = strlen(n->name), len = strlen(candidate);
	unsigned d;

	/* A difference in length is a distance that needs no look. */
	if (len > NEAREST_NAME_BYTES || have > NEAREST_NAME_BYTES ||
	    (len > have ? len - have : have - len) >= n->distance)
		return;
	d = distance(n->name, candidate);
	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}
