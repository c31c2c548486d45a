/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "eventlog/spool/spool_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void spool_word(struct spool *s, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->conf.on_word)
		s->conf.on_word(s->conf.arg, text);
}

/* Counts damaged bytes, and reports the first ones of each segment. */
static void spool_damaged(struct spool *s, struct segment *g, uint64_t bytes, const char *how)
{
	s->stats.damaged_bytes += bytes;
	if (!g->is_damaged)
		spool_word(s,
			   "segment %016" PRIx64 SEGMENT_GOOD
			   " is damaged (%s): its complete blocks are used, and the file is kept",
			   g->start, how);
	g->is_damaged = true;
}

int spool_walk(struct spool *s, struct walk *w, struct segment *g)
{
	uint64_t was = w->damaged;
	int rc = walk_window(w, s->window);

	if (rc == -ERR_SYS) {
		if (++g->tries < SPOOL_READ_TRIES)
			return rc;
		spool_damaged(s, g, g->end - w->place, strerror(errno));
		w->place = g->end;
		return 0;
	}
	g->tries = 0;
	if (w->damaged > was)
		spool_damaged(s, g, w->damaged - was, "it has bytes outside of blocks");
	return rc;
}

void spool_ledger_due(struct spool *s, nsec_t at)
{
	s->ledger.is_dirty = true;
	if (at < s->ledger_at)
		s->ledger_at = at;
}

/* --- opening */

static const struct store_kind ledger_kind = {
	.what = "ledger", .version = 1, .max_bytes = LEDGER_FILE_MAX_BYTES, .is_expendable = true
};

/* Loads the ledger. An invalid one is renamed, and all consumers begin with the oldest segment. */
static int load_ledger(struct spool *s, struct err *e)
{
	struct buf b = { 0 };
	struct err why = { 0 };
	int rc;

	s->file = STORE_INIT(&ledger_kind, s->conf.disk, LEDGER_NAME);
	rc = store_read(&s->file, &b, &why);
	if (!rc) {
		rc = ledger_decode(&s->ledger, b.p, b.n);
		err_set(&why, (enum err_code)(-rc), "the ledger is inconsistent");
	}
	buf_done(&b);
	if (rc == -ERR_PARSE)
		spool_word(s, "the %s: consumers get all stored blocks again", why.text);
	if (!rc || rc == -ERR_PARSE || rc == -ERR_NOTFOUND)
		return 0;
	return err_set(e, why.code, "the %s", why.text);
}

static int any_block(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place)
{
	return 0;
}

/*
 * Finds the end of the last segment, which was being written: bytes behind its last good block are
 * an incomplete block.
 */
static void find_end(struct spool *s)
{
	struct segment *g = segments_last(&s->segments);
	struct walk w = {
		.disk = s->conf.disk, .segment = g, .end = UINT64_MAX, .on_block = any_block
	};
	int rc = 0;

	if (!g)
		return;
	w.place = w.good_end = g->start;
	while (w.place < g->end && (!rc || (rc == -ERR_SYS && ++g->tries < SPOOL_READ_TRIES)))
		rc = walk_window(&w, s->window);
	if (rc)
		spool_damaged(s, g, 0, "it cannot be read");
	else if (w.damaged > g->end - w.good_end)
		spool_damaged(s, g, w.damaged - (g->end - w.good_end),
			      "it has bytes outside of blocks");
	if (!rc)
		g->end = w.good_end;
}

/* Syncs the log, because data that a crash left in the page cache are not on the disk yet. */
static void make_sure(struct spool *s)
{
	const struct disk *d = s->conf.disk;
	struct segment *g = segments_last(&s->segments);
	char name[SEGMENT_NAME_BYTES];
	int fd;

	if (!g)
		return;
	segment_name(name, g->start, SEGMENT_GOOD);
	if (g->end == g->start) {
		d->remove(d->arg, name);
		s->segments.n--;
		return;
	}
	fd = d->open(d->arg, name);
	if (fd < 0 || d->cut(d->arg, fd, g->end - g->start) || d->sync(d->arg, fd))
		spool_damaged(s, g, 0, "the disk does not accept it");
	if (fd >= 0)
		d->close(d->arg, fd);
}

static void skip_to_what_is_there(struct spool *s)
{
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++) {
		struct consumer *c = &s->ledger.consumer[i];

		if (*c->name)
			spool_rewind(s, c);
	}
	s->kept_from = ledger_least(&s->ledger);
	spool_trim(s);
}

static int load(struct spool *s, struct err *e)
{
	const struct segment *last;
	int rc = load_ledger(s, e);

	if (!rc)
		rc = segments_load(&s->segments, s->conf.disk, e);
	if (rc)
		return rc;
	find_end(s);
	make_sure(s);
	last = segments_last(&s->segments);
	/* Not before a cursor, because new data there would count as read. */
	s->stored = ledger_most(&s->ledger);
	if (last && last->end > s->stored)
		s->stored = last->end;
	skip_to_what_is_there(s);
	return 0;
}

static int check(const struct spool_conf *c, struct err *e)
{
	if (c->max_bytes < SPOOL_DISK_MIN_BYTES || c->segment_bytes > c->max_bytes / 2 ||
	    c->commit_bytes > SPOOL_PENDING_MAX_BYTES / 2)
		return err_set(e, ERR_INVALID, "the sizes of the spool are inconsistent");
	return 0;
}

int spool_open(const struct spool_conf *c, struct spool **out, struct err *e)
{
	int rc = check(c, e);
	struct spool *s = rc ? NULL : calloc(1, sizeof(*s));

	if (!s)
		return rc ? rc : err_nomem(e);
	s->conf = *c;
	if (!c->segment_bytes)
		s->conf.segment_bytes = c->max_bytes / 8;
	s->fd = -1;
	s->commit_at = s->ledger_at = INT64_MAX;
	s->unsure_from = UINT64_MAX;
	buf_init(&s->pending, SPOOL_PENDING_MAX_BYTES);
	buf_init(&s->scratch, LEDGER_FILE_MAX_BYTES);
	ledger_init(&s->ledger);
	rc = load(s, e);
	if (rc) {
		spool_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

int spool_limit(struct spool *s, enum spool_when_full when_full, uint64_t max_bytes, nsec_t now)
{
	struct spool_conf c = s->conf;
	int rc;

	c.when_full = when_full;
	c.max_bytes = max_bytes;
	c.segment_bytes = max_bytes / 8;
	rc = check(&c, NULL);
	if (rc)
		return rc;
	s->conf = c;
	if (spool_disk_bytes(s) > max_bytes)
		s->commit_at = now; /* removes segments that exceed the limit */
	return 0;
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		s->conf.disk->close(s->conf.disk->arg, s->fd);
	ledger_done(&s->ledger);
	segments_done(&s->segments);
	buf_done(&s->pending);
	buf_done(&s->scratch);
	free(s);
}

/* --- appending */

uint64_t spool_disk_bytes(const struct spool *s)
{
	return s->segments.n ? s->stored - s->segments.v[0].start : 0;
}

static bool has_room(const struct spool *s, size_t n)
{
	if (s->pending.n + n > SPOOL_PENDING_MAX_BYTES)
		return false;
	return s->conf.when_full == SPOOL_DROP_OLDEST ||
	       (spool_disk_bytes(s) + s->pending.n + n <= s->conf.max_bytes &&
		s->segments.n < SEGMENTS_MAX);
}

bool spool_is_full(const struct spool *s)
{
	return s->is_full;
}

bool spool_owes(const struct spool *s)
{
	return s->pending.n || s->ledger.lost.unreported;
}

static void look_for_room(struct spool *s)
{
	if (s->is_full &&
	    has_room(s, s->conf.when_full == SPOOL_DROP_OLDEST ? SPOOL_PENDING_MAX_BYTES / 4
							       : s->conf.max_bytes / 4))
		s->is_full = false;
}

static int refuse(struct spool *s, const struct evgap *what, nsec_t now)
{
	int rc = gaps_add(&s->ledger.lost, what, 0);

	if (rc)
		return -ERR_NOMEM;
	if (s->unsure_from == UINT64_MAX)
		s->unsure_from = s->appended;
	s->is_full = true;
	s->appended++;
	s->stats.lost_blocks += what->end_seq - what->seq;
	s->stats.lost_events += what->end_first - what->first;
	spool_ledger_due(s, s->ledger_was + SPOOL_LEDGER_NS > now ? s->ledger_was + SPOOL_LEDGER_NS
								  : now);
	return -ERR_LIMIT;
}

/*
 * Writes a gap to the log, before the next block of its stream. The gap stays in the ledger until
 * it is on the disk.
 */
static int put_gap(struct spool *s, struct gap *gap)
{
	uint8_t block[EVGAP_BLOCK_BYTES];

	evgap_encode(&gap->what, block);
	if (buf_reserve(&s->pending, EVGAP_BLOCK_BYTES))
		return -ERR_NOMEM;
	buf_put(&s->pending, block, EVGAP_BLOCK_BYTES);
	gaps_report(&s->ledger.lost, gap);
	return 0;
}

/*
 * True if there is room for n bytes. A full spool stays full until a quarter is free, so that
 * losses are few and long.
 */
static bool can_keep(struct spool *s, size_t n)
{
	look_for_room(s);
	return !s->is_full && has_room(s, n);
}

int spool_append(struct spool *s, const uint8_t *p, const struct evblock *b, nsec_t now)
{
	struct gap *gap = map_find(&s->ledger.lost.by_stream, b->stream);
	struct evgap what;

	evgap_of(p, b, &what);
	if (!can_keep(s, b->bytes + EVGAP_BLOCK_BYTES))
		return refuse(s, &what, now);
	if (buf_reserve(&s->pending, b->bytes + EVGAP_BLOCK_BYTES))
		return -ERR_NOMEM;
	if (gap && !gap->is_reported)
		put_gap(s, gap);
	buf_put(&s->pending, p, b->bytes);
	s->appended++;
	if (s->commit_at == INT64_MAX)
		s->commit_at = now + s->conf.commit_ns;
	if (s->pending.n >= s->conf.commit_bytes)
		s->commit_at = now;
	return 0;
}

uint64_t spool_appended(const struct spool *s)
{
	return s->appended;
}

uint64_t spool_settled(const struct spool *s)
{
	return s->settled;
}

/* Writes the gaps of streams that do not continue, when there is room. */
static void put_gaps(struct spool *s, nsec_t now)
{
	look_for_room(s);
	if (s->is_full || !s->ledger.lost.unreported)
		return;
	list_each_safe (i, &s->ledger.lost.all) {
		struct gap *gap = list_entry(i, struct gap, at);

		if (!gap->is_reported && (!has_room(s, EVGAP_BLOCK_BYTES) || put_gap(s, gap)))
			return;
	}
	if (s->commit_at == INT64_MAX)
		s->commit_at = now + s->conf.commit_ns;
}

static nsec_t due(const struct spool *s)
{
	nsec_t at = s->commit_at < s->ledger_at ? s->commit_at : s->ledger_at;

	return at > s->retry_at ? at : s->retry_at;
}

nsec_t spool_step(struct spool *s, nsec_t now)
{
	put_gaps(s, now);
	if (now >= due(s))
		spool_commit(s, now);
	put_gaps(s, now); /* the acknowledgement may have made room */
	return due(s);
}

void spool_stats(const struct spool *s, struct spool_stats *out)
{
	*out = s->stats;
	out->disk_bytes = spool_disk_bytes(s);
	out->segments = s->segments.n;
	out->is_failing = s->retry_at != 0;
}
