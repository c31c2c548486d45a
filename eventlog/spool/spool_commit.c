/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes blocks and the ledger, and handles failures. The order is: data before the ledger, and the
 * ledger before removals.
 */
#include "common/base/str.h"
#include "eventlog/evgap.h"
#include "eventlog/spool/spool_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Converts a negative result of a disk call to -ERR_SYS, and sets errno. */
static int failed(int rc)
{
	errno = -rc;
	return -ERR_SYS;
}

/* --- segments */

static int begin_segment(struct spool *s)
{
	const struct disk *d = s->conf.disk;
	char name[SEGMENT_NAME_BYTES];
	int rc = segments_add(&s->segments, s->stored), fd;

	if (rc)
		return rc;
	segment_name(name, s->stored, SEGMENT_GOOD);
	d->remove(d->arg, name); /* removes an empty segment of an earlier attempt */
	fd = d->create(d->arg, name);
	rc = fd < 0 ? fd : d->sync_names(d->arg, name);
	if (!rc) {
		s->fd = fd;
		return 0;
	}
	if (fd >= 0)
		d->close(d->arg, fd);
	s->segments.n--;
	return failed(rc);
}

static void end_segment(struct spool *s)
{
	if (s->fd >= 0)
		s->conf.disk->close(s->conf.disk->arg, s->fd);
	s->fd = -1;
}

/*
 * Ends a segment after a failure of its disk: later the disk may report success, having lost
 * earlier data. The segment keeps the data that were synced before; the rest is written to another
 * segment.
 */
static void give_up_segment(struct spool *s)
{
	const struct disk *d = s->conf.disk;
	struct segment *g = segments_last(&s->segments);
	char name[SEGMENT_NAME_BYTES];

	if (s->fd < 0)
		return;
	/* if this fails, the start of the next segment is its end */
	d->cut(d->arg, s->fd, g->end - g->start);
	end_segment(s);
	if (g->end > g->start)
		return;
	segment_name(name, g->start, SEGMENT_GOOD);
	d->remove(d->arg, name);
	s->segments.n--;
}

/* --- the log */

static int write_pending(struct spool *s, const struct segment *g)
{
	const struct disk *d = s->conf.disk;
	int rc = disk_write_all(d, s->fd, s->pending.p, s->pending.n, g->end - g->start);

	rc = rc ? rc : d->sync(d->arg, s->fd);
	return rc ? failed(rc) : 0;
}

/* Removes the gaps of all consumers that are in the log now, where each consumer reads them. */
static void forget_reported(struct spool *s, nsec_t now)
{
	if (s->ledger.lost.unreported == s->ledger.lost.n)
		return;
	list_each_safe (i, &s->ledger.lost.all) {
		struct gap *gap = list_entry(i, struct gap, at);

		if (gap->is_reported)
			gaps_remove(&s->ledger.lost, gap);
	}
	spool_ledger_due(s, now + SPOOL_LEDGER_NS);
}

static int put_log(struct spool *s, nsec_t now)
{
	struct segment *g = segments_last(&s->segments);
	int rc = 0;

	if (!s->pending.n)
		return 0;
	if (s->fd >= 0 && g->end - g->start >= s->conf.segment_bytes)
		end_segment(s);
	if (s->fd < 0)
		rc = begin_segment(s);
	g = segments_last(&s->segments);
	if (!rc)
		rc = write_pending(s, g);
	if (rc)
		return rc;
	g->end += s->pending.n;
	s->stored += s->pending.n;
	buf_clear(&s->pending);
	forget_reported(s, now);
	return 0;
}

/* --- the ledger */

static int spool_put_ledger(struct spool *s, nsec_t now)
{
	int rc = ledger_encode(&s->ledger, &s->scratch);

	rc = rc ? rc : store_write(&s->file, &s->scratch, NULL);
	if (rc)
		return rc;
	s->ledger.is_dirty = false;
	s->ledger_at = INT64_MAX;
	s->ledger_was = now;
	s->unsure_from = UINT64_MAX;
	s->kept_from = ledger_least(&s->ledger);
	return 0;
}

/* --- removal of segments */

struct counting {
	struct spool *s;
	struct consumer *c;
	uint64_t place; /* position at which the consumer continues to read */
};

static int count_lost(void *arg, const uint8_t *p, const struct evblock *b, uint64_t place)
{
	const struct counting *k = arg;
	struct evgap what;
	int rc;

	if (place < k->c->cursor)
		return 0;
	evgap_of(p, b, &what);
	rc = ledger_lose(&k->s->ledger, k->c, &what, k->place);
	if (rc != -ERR_LIMIT)
		return rc;
	/*
	 * The ledger must not fill the disk. The number of the stream's next block, if there is
	 * one, shows the loss.
	 */
	if (!k->s->stats.unnamed_losses++)
		spool_word(k->s, "consumer %s has losses in more streams than the ledger can store",
			   k->c->name);
	return 0;
}

/* Notes the part of the first segment that this consumer has not acknowledged as lost. */
static int lose_segment(struct spool *s, struct consumer *c)
{
	struct segment *g = &s->segments.v[0];
	struct counting k = { s, c, g->end };
	struct walk w = { .disk = s->conf.disk,
			  .segment = g,
			  .end = UINT64_MAX,
			  .on_block = count_lost,
			  .arg = &k };
	int rc = 0;

	w.place = c->cursor > g->start ? c->cursor : g->start;
	while (w.place < g->end && !rc)
		rc = spool_walk(s, &w, g);
	if (rc) /* unreadable blocks leave a gap in the numbers of later ones */
		return rc;
	/*
	 * A consumer may have received everything without having acknowledged it. When it does,
	 * nothing is lost.
	 */
	list_each (i, &c->gaps.all) {
		struct gap *gap = list_entry(i, struct gap, at);

		if (c->given >= g->end && gap->place == g->end)
			gaps_report(&c->gaps, gap);
	}
	c->cursor = g->end;
	c->next = c->next > g->end ? c->next : g->end;
	s->ledger.is_dirty = true;
	return 0;
}

static void set_aside(struct spool *s, const struct segment *g)
{
	const struct disk *d = s->conf.disk;
	char name[SEGMENT_NAME_BYTES], bad[SEGMENT_NAME_BYTES];

	segment_name(name, g->start, SEGMENT_GOOD);
	segment_name(bad, g->start, SEGMENT_BAD);
	if (g->is_damaged && s->segments.nbad < SPOOL_BAD_MAX)
		s->segments.nbad += d->rename(d->arg, name, bad) == 0;
	else
		d->remove(d->arg, name);
}

static void pop_segment(struct spool *s)
{
	if (s->segments.n == 1)
		end_segment(s);
	set_aside(s, &s->segments.v[0]);
	segments_pop_front(&s->segments);
}

/*
 * Deletes the oldest segment, even if a consumer has not read all of it. Fails with ERR_SYS,
 * ERR_NOMEM, ERR_LIMIT.
 */
static int spool_expire(struct spool *s, nsec_t now)
{
	bool has_lost = false;
	int rc = 0;

	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX && !rc; i++) {
		struct consumer *c = &s->ledger.consumer[i];

		if (!*c->name || c->cursor >= s->segments.v[0].end)
			continue;
		has_lost = true;
		rc = lose_segment(s, c);
	}
	if (!rc && s->ledger.is_dirty)
		rc = spool_put_ledger(s, now);
	if (rc)
		return rc;
	s->stats.expired_segments += has_lost;
	pop_segment(s);
	return 0;
}

/*
 * True if a segment may be deleted: also the one that is being written, if it has its full length.
 */
static bool may_go(const struct spool *s)
{
	const struct segment *g = &s->segments.v[0];

	return s->segments.n > 1 || s->fd < 0 || s->is_full ||
	       g->end - g->start >= s->conf.segment_bytes;
}

void spool_trim(struct spool *s)
{
	while (s->segments.n && s->segments.v[0].end <= s->kept_from && may_go(s))
		pop_segment(s);
}

/* --- a commit */

static bool is_over(const struct spool *s)
{
	if (s->conf.when_full != SPOOL_DROP_OLDEST || s->segments.n < 2)
		return false;
	return s->needs_room || s->segments.n >= SEGMENTS_MAX ||
	       s->stored - s->segments.v[0].start > s->conf.max_bytes;
}

static int make_room(struct spool *s, nsec_t now)
{
	int rc = 0;

	while (is_over(s) && !rc) {
		rc = spool_expire(s, now);
		s->needs_room = false;
	}
	return rc;
}

static int commit(struct spool *s, nsec_t now)
{
	int rc = s->needs_room ? make_room(s, now) : 0;

	if (!rc)
		rc = put_log(s, now);
	if (rc) {
		int why = errno;

		give_up_segment(s);
		errno = why;
		return rc;
	}
	rc = make_room(s, now);
	if (!rc && s->ledger_at <= now)
		rc = spool_put_ledger(s, now);
	return rc;
}

static void report_failure(struct spool *s, int rc, nsec_t now)
{
	int why = rc == -ERR_SYS ? errno : rc == -ERR_NOMEM ? ENOMEM : EFBIG;

	if (!s->retry_at)
		spool_word(s,
			   "nothing can be stored: %s; new blocks are kept in memory, and counted "
			   "as lost when there are too many",
			   strerror(why));
	s->stats.failures++;
	s->retry_at = now + SPOOL_RETRY_NS;
	/* Drops older data for newer ones, also on a disk that other programs have filled. */
	if (why == ENOSPC && s->conf.when_full == SPOOL_DROP_OLDEST && s->segments.n > 1 &&
	    !s->needs_room) {
		s->needs_room = true;
		s->retry_at = now;
	}
}

int spool_commit(struct spool *s, nsec_t now)
{
	int rc = commit(s, now);

	if (rc) {
		report_failure(s, rc, now);
		return rc;
	}
	if (s->retry_at)
		spool_word(s, "storing continues");
	s->retry_at = 0;
	s->commit_at = INT64_MAX;
	s->settled = s->unsure_from < s->appended ? s->unsure_from : s->appended;
	spool_trim(s);
	return 0;
}
