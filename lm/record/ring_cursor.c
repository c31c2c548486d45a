/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/record/ring_cursor.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/container/map.h"
#include "common/store/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC UINT64_C(0x3130574f5250454b) /* KEPROW01 */
#define BASE_THREAD UINT32_MAX /* number of the row with the earlier losses of a segment */

struct ring_cursor {
	uint64_t segment; /* 0: free */
	uint64_t stream; /* 0: of the segment */
	uint32_t thread, which; /* which: the valid copy */
	struct ring_cursor_state state[2];
	uint64_t given_seq, given_events, given_dropped;
};

struct file {
	uint64_t magic;
	struct ring_cursor row[RING_CURSORS_MAX];
};

struct ring_cursors {
	struct file *f; /* mapped */
	struct map by_stream; /* of rows */
	/* Rows below it may be of earlier lms, whose losses are not reported yet. */
	size_t before;
};

static struct ring_cursor_state *now(const struct ring_cursor *r)
{
	return (struct ring_cursor_state *)&r->state[r->which & 1];
}

void ring_cursor_get(const struct ring_cursor *r, struct ring_cursor_state *out)
{
	*out = *now(r);
}

void ring_cursor_set(struct ring_cursor *r, const struct ring_cursor_state *s)
{
	uint32_t other = ~r->which & 1;

	r->state[other] = *s;
	__atomic_store_n(&r->which, other, __ATOMIC_RELEASE);
}

static bool is_done(const struct ring_cursor *r)
{
	return r->given_events >= now(r)->events && r->given_dropped >= now(r)->dropped;
}

/* --- the file */

struct place {
	const struct disk *disk;
	const char *path;
};

/* Checks version and kind. A file without magic was being made when its lm died. */
static int check_magic(const struct place *at, int fd, struct err *e)
{
	const struct disk *d = at->disk;
	char bad[FILE_PATH_BYTES];
	uint64_t magic = 0;
	ssize_t got = d->read_at(d->arg, fd, &magic, sizeof(magic), 0);
	int64_t n = d->size(d->arg, fd);

	if (got < 0 || n < 0)
		return disk_fail(at->path, got < 0 ? (int)got : (int)n, e);
	if ((!magic || magic == MAGIC) && n <= (int64_t)sizeof(struct file))
		return 0;
	snprintf(bad, sizeof(bad), "%.4000s.bad", at->path);
	if (d->rename(d->arg, at->path, bad))
		return err_set(e, ERR_PARSE, "%s: byte 0: not of this version", at->path);
	log_warn("lm", "%s: byte 0: not of this version; it is renamed to .bad", at->path);
	return -ERR_NOTFOUND;
}

static int open_file(const struct place *at, int *fd, struct err *e)
{
	const struct disk *d = at->disk;
	int rc = -ERR_NOTFOUND;

	*fd = d->open(d->arg, at->path);
	if (*fd >= 0) {
		rc = check_magic(at, *fd, e);
		if (rc)
			d->close(d->arg, *fd);
	} else if (*fd != -ENOENT) {
		return disk_fail(at->path, *fd, e);
	}
	if (rc != -ERR_NOTFOUND)
		return rc;
	*fd = d->create(d->arg, at->path);
	return *fd < 0 ? disk_fail(at->path, *fd, e) : 0;
}

static int map_file(const struct place *at, struct ring_cursors *rs, struct err *e)
{
	const struct disk *d = at->disk;
	void *p = NULL;
	int fd, rc = open_file(at, &fd, e);

	if (rc)
		return rc;
	rc = d->map(d->arg, fd, sizeof(*rs->f), &p);
	d->close(d->arg, fd);
	if (rc)
		return disk_fail(at->path, rc, e);
	rs->f = p;
	return 0;
}

static int take_up(struct ring_cursors *rs)
{
	if (rs->f->magic != MAGIC) {
		memset(rs->f, 0, sizeof(*rs->f));
		rs->f->magic = MAGIC;
	}
	for (size_t i = 0; i < RING_CURSORS_MAX; i++) {
		struct ring_cursor *r = &rs->f->row[i];

		if (r->segment && r->stream && map_put(&rs->by_stream, r->stream, r, NULL))
			return -ERR_NOMEM;
		if (r->segment)
			rs->before = i + 1;
	}
	return 0;
}

int ring_cursors_open(const struct disk *disk, const char *path, struct ring_cursors **out,
		      struct err *e)
{
	struct ring_cursors *rs = calloc(1, sizeof(*rs));
	int rc;

	if (!rs)
		return err_nomem(e);
	map_init(&rs->by_stream);
	rc = map_file(&(struct place){ disk_or_system(disk), path }, rs, e);
	if (!rc && take_up(rs))
		rc = err_nomem(e);
	if (rc) {
		ring_cursors_free(rs);
		return rc;
	}
	*out = rs;
	return 0;
}

void ring_cursors_free(struct ring_cursors *rs)
{
	if (!rs)
		return;
	if (rs->f)
		munmap(rs->f, sizeof(*rs->f));
	map_done(&rs->by_stream);
	free(rs);
}

/* --- rows */

static void clear(struct ring_cursors *rs, struct ring_cursor *r)
{
	map_del(&rs->by_stream, r->stream);
	__atomic_store_n(&r->segment, 0, __ATOMIC_RELEASE);
	memset(r, 0, sizeof(*r));
}

static void sweep(struct ring_cursors *rs, bool (*lives)(void *arg, uint64_t segment), void *arg)
{
	for (size_t i = 0; i < RING_CURSORS_MAX; i++) {
		struct ring_cursor *r = &rs->f->row[i];

		if (r->segment && (!r->stream || is_done(r)) && !lives(arg, r->segment))
			clear(rs, r);
	}
}

static struct ring_cursor *find_free(struct ring_cursors *rs)
{
	for (size_t i = 0; i < RING_CURSORS_MAX; i++)
		if (!rs->f->row[i].segment)
			return &rs->f->row[i];
	return NULL;
}

static struct ring_cursor *fill(struct ring_cursor *r, const struct ring_cursor_key *key)
{
	memset(r, 0, sizeof(*r));
	r->stream = key->stream;
	r->thread = key->thread;
	__atomic_store_n(&r->segment, key->segment, __ATOMIC_RELEASE);
	return r;
}

struct ring_cursor *ring_cursors_add(struct ring_cursors *rs, const struct ring_cursor_key *key,
				     bool (*lives)(void *arg, uint64_t segment), void *arg)
{
	struct ring_cursor *r = find_free(rs);

	if (!r) {
		sweep(rs, lives, arg);
		r = find_free(rs);
	}
	if (!r || map_put(&rs->by_stream, key->stream, r, NULL))
		return NULL;
	return fill(r, key);
}

void ring_cursors_given(struct ring_cursors *rs, const uint8_t *p, const struct evblock *b)
{
	struct ring_cursor *r = map_find(&rs->by_stream, b->stream);
	struct evgap g;

	if (!r)
		return;
	evgap_of(p, b, &g);
	if (g.end_seq > r->given_seq)
		r->given_seq = g.end_seq;
	if (g.end_first > r->given_events)
		r->given_events = g.end_first;
	if (g.dropped > r->given_dropped)
		r->given_dropped = g.dropped;
}

/* --- of earlier lms */

void ring_cursors_each_loss(struct ring_cursors *rs, void (*fn)(void *arg, const struct evgap *g),
			    void *arg)
{
	for (size_t i = 0; i < rs->before; i++) {
		const struct ring_cursor *r = &rs->f->row[i];

		if (!r->segment || !r->stream || is_done(r))
			continue;
		fn(arg, &(struct evgap){
				.stream = r->stream,
				.seq = r->given_seq,
				.end_seq = r->given_seq + 1,
				.first = r->given_events,
				.end_first = now(r)->events > r->given_events ? now(r)->events
									      : r->given_events,
				.dropped = now(r)->dropped > r->given_dropped ? now(r)->dropped
									      : r->given_dropped,
				.is_last = true });
	}
	rs->before = 0;
}

bool ring_cursors_knows(const struct ring_cursors *rs, uint64_t segment)
{
	for (size_t i = 0; i < RING_CURSORS_MAX; i++)
		if (rs->f->row[i].segment == segment)
			return true;
	return false;
}

uint64_t ring_cursors_place(const struct ring_cursors *rs, uint64_t segment, uint32_t thread)
{
	uint64_t most = 0;

	for (size_t i = 0; i < RING_CURSORS_MAX; i++) {
		const struct ring_cursor *r = &rs->f->row[i];

		if (r->segment == segment && r->thread == thread && now(r)->place > most)
			most = now(r)->place;
	}
	return most;
}

uint64_t ring_cursors_lost(const struct ring_cursors *rs, uint64_t segment)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < RING_CURSORS_MAX; i++)
		if (rs->f->row[i].segment == segment)
			sum += now(&rs->f->row[i])->lost;
	return sum;
}

static struct ring_cursor *base_of(struct ring_cursors *rs, uint64_t segment)
{
	struct ring_cursor *r;

	for (size_t i = 0; i < RING_CURSORS_MAX; i++)
		if (rs->f->row[i].segment == segment && rs->f->row[i].thread == BASE_THREAD)
			return &rs->f->row[i];
	r = find_free(rs);
	return r ? fill(r, &(struct ring_cursor_key){ .segment = segment, .thread = BASE_THREAD })
		 : NULL;
}

/* The base may be negative: unsigned sums wrap around, and are correct. */
void ring_cursors_set_lost(struct ring_cursors *rs, uint64_t segment, uint64_t lost)
{
	struct ring_cursor *r = base_of(rs, segment);
	struct ring_cursor_state s = { 0 };

	if (!r)
		return;
	s.lost = now(r)->lost + lost - ring_cursors_lost(rs, segment);
	ring_cursor_set(r, &s);
}
