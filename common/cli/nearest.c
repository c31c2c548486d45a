/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/nearest.h"

#include <stdbool.h>
#include <string.h>

/* longer names are not compared, because that takes noticeable time */
#define NEAREST_NAME_BYTES 64

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_swapped(const char *a, const char *b)
{
	return lower(a[0]) == lower(b[-1]) && lower(a[-1]) == lower(b[0]);
}

/* Returns the Levenshtein distance, in which a swap of two neighbours is one edit. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][NEAREST_NAME_BYTES + 1], n = (unsigned)strlen(b), i;

	for (unsigned j = 0; j <= n; j++)
		rows[0][j] = j;
	for (i = 0; a[i]; i++) {
		const unsigned *above = rows[i % 3], *higher = rows[(i + 2) % 3];
		unsigned *row = rows[(i + 1) % 3];

		row[0] = i + 1;
		for (unsigned j = 1; j <= n; j++) {
			unsigned least = above[j - 1] + (lower(a[i]) != lower(b[j - 1]));

			if (above[j] + 1 < least)
				least = above[j] + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			if (i && j > 1 && is_swapped(a + i, b + j - 1) && higher[j - 2] + 1 < least)
				least = higher[j - 2] + 1;
			row[j] = least;
		}
	}
	return rows[i % 3][n];
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

	/* The difference in length is the smallest possible distance, and is cheap to compute. */
	if (len > NEAREST_NAME_BYTES || have > NEAREST_NAME_BYTES ||
	    (len > have ? len - have : have - len) >= n->distance)
		return;
	d = distance(n->name, candidate);
	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}
