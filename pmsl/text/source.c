/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/source.h"

#include <stdbool.h>
#include <string.h>

/* True for a byte that begins a character: UTF-8 marks bytes that continue one. */
static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

struct pmsl_place pmsl_source_place(const struct pmsl_source *s, size_t offset)
{
	struct pmsl_place p = { .line = 1, .col = 1 };
	const char *end;

	if (offset > s->n)
		offset = s->n;
	for (size_t i = 0; i < offset; i++) {
		if (s->text[i] != '\n')
			continue;
		p.line++;
		p.begin = i + 1;
	}
	for (size_t i = p.begin; i < offset; i++)
		p.col += begins_character(s->text[i]);
	end = s->n ? memchr(s->text + p.begin, '\n', s->n - p.begin) : NULL;
	p.end = end ? (size_t)(end - s->text) : s->n;
	if (p.end > p.begin && s->text[p.end - 1] == '\r')
		p.end--;
	return p;
}
