/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/ranges.h"

#include <errno.h>
#include <stdlib.h>

void ranges_put(struct buf *out, const int64_t *number, size_t n, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < n; shown++) {
		int64_t first = number[i], last = first;

		for (; i < n && (number[i] == last || number[i] == last + 1); i++)
			last = number[i];
		if (shown == most) {
			buf_puts(out, ", ...");
			return;
		}
		buf_printf(out, "%s%lld", shown ? ", " : "", (long long)first);
		if (last > first)
			buf_printf(out, "%s%lld", last > first + 1 ? "-" : ", ", (long long)last);
	}
}

/* Parses "7" or "3-7". Returns the text after it; NULL: it is neither. */
static const char *parse_piece(const char *text, struct ranges_piece *p)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	p->first = p->last = strtoll(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		p->last = strtoll(end + 1, &end, 10);
	return errno || p->last < p->first ? NULL : end;
}

int ranges_parse(const char *text, struct ranges *r, struct err *e)
{
	struct ranges got = { .n = 0 };
	const char *at = text;

	do {
		if (got.n == RANGES_PIECES_MAX)
			return err_set(e, ERR_INVALID, "at most %d ranges", RANGES_PIECES_MAX);
		at = parse_piece(at, &got.piece[got.n++]);
	} while (at && *at++ == ',');
	if (!at || at[-1])
		return err_set(e, ERR_INVALID, "ranks such as 0-15,20, not '%s'", text);
	*r = got;
	return 0;
}

int ranges_option(void *into, const char *text, struct err *e)
{
	return ranges_parse(text, into, e);
}

bool ranges_have(const struct ranges *r, int64_t number)
{
	for (size_t i = 0; i < r->n; i++)
		if (number >= r->piece[i].first && number <= r->piece[i].last)
			return true;
	return !r->n;
}
