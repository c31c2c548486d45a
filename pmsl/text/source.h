/* SPDX-License-Identifier: Apache-2.0 */
/* A text of the metric language, and positions in it. */
#ifndef PMSL_TEXT_SOURCE_H
#define PMSL_TEXT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* All borrowed. n may exceed PMSL_SOURCE_MAX_BYTES: the compiler refuses longer ones. */
struct pmsl_source {
	const char *name; /* the name that begins diagnostics: "loops.pmsl" */
	const char *text;
	size_t n;
};

/* Both from 1; col counts characters. offset may be the end of the text. */
struct pmsl_place {
	unsigned line, col;
	size_t begin, end; /* offsets of that line, without its newline */
};

/* O(offset) in the text. */
struct pmsl_place pmsl_source_place(const struct pmsl_source *s, size_t offset);

#endif
