/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a spool that no process has open. */
#include "eventlog/spool/segments.h"
#include "eventlog/spool/spool.h"
#include "eventlog/spool/walk.h"

#include <stdlib.h>

struct scan {
	void (*fn)(void *arg, const uint8_t *p, const struct evblock *b);
	void *arg;
};

static int on_block(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place)
{
	const struct scan *s = arg;

	s->fn(s->arg, p, b);
	return 0;
}

/* Reads a segment, and skips parts that cannot be read. */
static void scan_segment(struct scan *s, const struct disk *d, const struct segment *g,
			 uint8_t *window)
{
	struct walk w = { .disk = d,
			  .segment = g,
			  .end = g->end,
			  .place = g->start,
			  .on_block = on_block,
			  .arg = s };

	while (w.place < w.end)
		if (walk_window(&w, window))
			return;
}

int spool_scan(const struct disk *disk, const char *path,
	       void (*fn)(void *arg, const uint8_t *p, const struct evblock *b), void *arg,
	       struct err *e)
{
	struct scan s = { fn, arg };
	struct segments all = { 0 };
	uint8_t *window = malloc(WALK_WINDOW_BYTES);
	struct disk d;
	int rc = window ? disk_enter(disk, path, &d, e) : err_nomem(e);

	if (rc) {
		free(window);
		return rc;
	}
	rc = segments_load(&all, &d, e);
	for (size_t i = 0; !rc && i < all.n; i++)
		scan_segment(&s, &d, &all.v[i], window);
	segments_done(&all);
	disk_leave(&d);
	free(window);
	return rc;
}
