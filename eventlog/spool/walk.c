/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/spool/walk.h"

#include <errno.h>

#define VAIN_MAX_BYTES (8 * WALK_WINDOW_BYTES) /* bytes that may be read in vain in one window */

/* Reads n bytes, or up to the end of the file. */
static ssize_t fill(const struct walk *w, uint8_t *window, size_t n)
{
	const struct disk *d = w->disk;
	char name[SEGMENT_NAME_BYTES];
	size_t has = 0;
	ssize_t got = 0;
	int fd;

	segment_name(name, w->segment->start, SEGMENT_GOOD);
	fd = d->open(d->arg, name);
	if (fd < 0)
		return fd;
	do {
		got = d->read_at(d->arg, fd, window + has, n - has,
				 w->place - w->segment->start + has);
		has += got > 0 ? (size_t)got : 0;
	} while (got > 0 && has < n);
	d->close(d->arg, fd);
	return got < 0 ? got : (ssize_t)has;
}

/*
 * Returns how many bytes to skip that are not a good block: up to where the next one may begin.
 * *vain: bytes read for headers with wrong records. Nested headers would cause all bytes to be read
 * again for each.
 */
static size_t past(const uint8_t *p, size_t n, bool is_end, const struct evblock *b, size_t *vain)
{
	size_t far = evblock_seek(p, n, 1);

	*vain += b->bytes < n ? b->bytes : n;
	if (*vain > VAIN_MAX_BYTES && b->bytes)
		far = b->bytes < n ? b->bytes : n;
	return is_end && far + 4 > n ? n : far;
}

static int look(struct walk *w, const uint8_t *p, size_t n, bool is_end)
{
	struct evblock b;
	size_t at = 0, vain = 0;
	int rc = 0;

	while (at < n && !rc) {
		enum evblock_look is = evblock_look(p + at, n - at, &b);
		size_t far = b.bytes;

		if (is == EVBLOCK_SHORT && !is_end)
			break;
		if (is == EVBLOCK_GOOD || is == EVBLOCK_FUTURE) {
			rc = w->on_block(w->arg, p + at, &b, w->place + at);
			if (rc)
				break;
			w->good_end = w->place + at + far;
		} else {
			far = past(p + at, n - at, is_end, &b, &vain);
			w->damaged += far;
		}
		at += far;
	}
	w->place += at;
	return rc;
}

int walk_window(struct walk *w, uint8_t *window)
{
	uint64_t end = w->end < w->segment->end ? w->end : w->segment->end;
	size_t n =
		end - w->place < WALK_WINDOW_BYTES ? (size_t)(end - w->place) : WALK_WINDOW_BYTES;
	ssize_t has = n ? fill(w, window, n) : 0;
	int rc;

	if (has < 0) {
		errno = (int)-has;
		return -ERR_SYS;
	}
	rc = look(w, window, (size_t)has, w->place + (uint64_t)has >= end || (size_t)has < n);
	if ((size_t)has < n && !rc) { /* the file has become shorter */
		w->damaged += end - w->place;
		w->place = end;
	}
	return rc;
}
