/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/history/store.h"

#include "common/base/log.h"
#include "common/loop/loop.h"

#include <stdio.h>
#include <stdlib.h>

#define COMMIT_NS 0 /* a block has a minute of samples: it is written at once */
/* after this time without data the consumer checks for a disk failure */
#define QUERY_POLL_NS (300 * NSEC_PER_MSEC)
#define AGE_CONSUMER "age"

struct history_query {
	struct history_store *store; /* NULL: free */
	struct history_visit visit;
	void (*on_done)(void *arg, const struct history_outcome *o);
	struct history_reader *reader; /* owned */
	int consumer;
	uint64_t until; /* appended blocks to be read */
	struct loop_timer *poll; /* owned */
};

struct history_store {
	struct history_store_conf conf;
	struct spooler *spooler;
	struct history_writer writer;
	struct loop_timer *cut, *expire; /* owned */
	struct history_query query[HISTORY_QUERIES_MAX];
	int age; /* consumer that acknowledges old blocks */
	uint64_t appended; /* blocks, as the spool counts them */
	struct history_store_stats stats;
	bool is_open, was_failing;
	struct err open_err;
};

/* --- queries */

static void query_end(struct history_query *q)
{
	spooler_remove(q->store->spooler, q->consumer);
	history_reader_free(q->reader);
	loop_timer_free(q->poll);
	*q = (struct history_query){ 0 };
}

static void query_done(struct history_query *q, bool is_partial)
{
	struct history_outcome o = { .is_partial = is_partial };
	void (*on_done)(void *arg, const struct history_outcome *o) = q->on_done;
	void *arg = q->visit.arg;

	history_reader_report(q->reader, &o.report);
	query_end(q);
	on_done(arg, &o);
}

static struct history_query *query_of(struct history_store *s, int consumer)
{
	for (size_t i = 0; i < HISTORY_QUERIES_MAX; i++)
		if (s->query[i].store && s->query[i].consumer == consumer)
			return &s->query[i];
	return NULL;
}

static void want(struct history_query *q)
{
	spooler_want(q->store->spooler, q->consumer);
	loop_timer_arm(q->poll, QUERY_POLL_NS);
}

static void on_poll(void *arg)
{
	struct history_query *q = arg;
	struct spool_stats stats;

	spooler_stats(q->store->spooler, &stats);
	if (stats.is_failing)
		query_done(q, true);
	else
		loop_timer_arm(q->poll, QUERY_POLL_NS);
}

static int find_free(struct history_store *s)
{
	for (int i = 0; i < HISTORY_QUERIES_MAX; i++)
		if (!s->query[i].store)
			return i;
	return -ERR_AGAIN;
}

static const char *query_name(int i, char out[16])
{
	snprintf(out, 16, "query-%d", i);
	return out;
}

int history_query(struct history_store *s, const struct history_visit *visit,
		  void (*on_done)(void *arg, const struct history_outcome *o),
		  struct history_query **out, struct err *e)
{
	int at = find_free(s);
	struct history_query *q = at < 0 ? NULL : &s->query[at];
	char name[16];

	if (!s->is_open)
		return err_set(e, ERR_AGAIN, "the history cannot be read: %s",
			       s->open_err.text[0] ? s->open_err.text : "it is being opened");
	if (!q)
		return err_set(e, ERR_AGAIN, "%d requests read the history already",
			       HISTORY_QUERIES_MAX);
	history_store_cut(s);
	*q = (struct history_query){ s,
				     *visit,
				     on_done,
				     history_reader_new(visit),
				     0,
				     s->appended,
				     loop_timer_new(s->conf.loop, on_poll, q) };
	q->consumer = spooler_consumer(s->spooler, query_name(at, name), true);
	if (!q->reader || !q->poll || q->consumer < 0) {
		int rc = q->consumer < 0 ? err_set(e, ERR_AGAIN, "the history is busy")
					 : err_nomem(e);

		history_reader_free(q->reader);
		loop_timer_free(q->poll);
		*q = (struct history_query){ 0 };
		return rc;
	}
	want(q);
	*out = q;
	return 0;
}

void history_query_cancel(struct history_query *q)
{
	if (q && q->store)
		query_end(q);
}

/* --- removal of old samples */

static void note_age(void *arg, const struct history_job *j)
{
	nsec_t *newest = arg;

	if (j->wall > *newest)
		*newest = j->wall;
}

/*
 * Removes only once per search, so that a clock that is wrong for a moment does not remove
 * everything.
 */
static void expire_blocks(struct history_store *s, const uint8_t *p, size_t n, uint64_t place)
{
	nsec_t now = s->conf.wall_now(s->conf.arg), newest = INT64_MIN;
	const struct history_visit visit = { .on_job = note_age, .arg = &newest };
	struct history_reader *r = history_reader_new(&visit);

	if (r && !history_read(r, p, n) && newest < now - s->conf.keep)
		spooler_ack(s->spooler, s->age, place);
	history_reader_free(r);
}

static void on_expire(void *arg)
{
	struct history_store *s = arg;

	if (s->age >= 0) {
		spooler_rewind(s->spooler, s->age);
		spooler_want(s->spooler, s->age);
	}
	loop_timer_arm(s->expire, HISTORY_EXPIRE_NS);
}

/* --- the spool */

static void on_open(void *arg, int rc, const struct err *e)
{
	struct history_store *s = arg;

	s->is_open = !rc;
	s->open_err = *e;
	if (rc)
		log_error("history", "no history is kept, trying again: %s", e->text);
}

static void on_blocks(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place)
{
	struct history_store *s = arg;
	struct history_query *q = query_of(s, consumer);

	if (consumer == s->age)
		expire_blocks(s, p, n, place);
	if (!q)
		return;
	if (history_read(q->reader, p, n))
		query_done(q, true);
	else
		want(q);
}

static void on_empty(void *arg, int consumer, uint64_t appended)
{
	struct history_query *q = query_of(arg, consumer);

	if (q && appended >= q->until)
		query_done(q, false);
}

static void on_word(void *arg, const char *text)
{
	log_warn("history", "%s", text);
}

/* Removes consumers of queries that the previous mainsm did not complete. */
static void drop_old_consumers(struct history_store *s)
{
	char name[16];

	for (int i = 0; i < HISTORY_QUERIES_MAX; i++) {
		int consumer = spooler_consumer(s->spooler, query_name(i, name), true);

		if (consumer >= 0)
			spooler_remove(s->spooler, consumer);
	}
}

static int open_spool(struct history_store *s, struct err *e)
{
	const struct spooler_calls calls = { .loop = s->conf.loop,
					     .on_open = on_open,
					     .on_blocks = on_blocks,
					     .on_empty = on_empty,
					     .on_word = on_word,
					     .arg = s,
					     .turns = s->conf.turns };
	const struct spool_conf c = { .disk = s->conf.disk,
				      .when_full = SPOOL_DROP_OLDEST,
				      .max_bytes = s->conf.max_bytes,
				      .commit_ns = COMMIT_NS,
				      .commit_bytes = SPOOL_READ_BYTES };
	int rc = spooler_open(s->conf.path, &c, &calls, &s->spooler, e);

	if (rc)
		return rc;
	s->age = spooler_consumer(s->spooler, AGE_CONSUMER, true);
	drop_old_consumers(s);
	return 0;
}

/* --- writing */

static void append(struct history_store *s)
{
	struct buf *b = &s->writer.out.out;
	struct evblock head;

	for (size_t at = 0; at < b->n; at += head.bytes) {
		int rc;

		evblock_head(b->p + at, &head);
		rc = spooler_append(s->spooler, b->p + at, &head);
		if (!rc || rc == -ERR_LIMIT)
			s->appended++;
		else
			s->stats.lost += head.events;
	}
	buf_clear(b);
}

void history_store_cut(struct history_store *s)
{
	loop_timer_cancel(s->cut);
	if (history_writer_cut(&s->writer, NULL))
		loop_timer_arm(s->cut, HISTORY_BLOCK_NS); /* no memory: tried again */
	append(s);
}

static void on_cut(void *arg)
{
	history_store_cut(arg);
}

static void written(struct history_store *s, int rc, const struct err *e)
{
	s->stats.samples++;
	if (rc && !s->stats.lost++)
		log_warn("history", "a sample is lost: %s", e->text);
	append(s);
	if (!loop_timer_is_armed(s->cut))
		loop_timer_arm(s->cut, HISTORY_BLOCK_NS);
}

void history_store_job(struct history_store *s, const struct history_job *j)
{
	struct err e = { 0 };

	written(s, history_write_job(&s->writer, j, &e), &e);
}

void history_store_ranks(struct history_store *s, const struct history_ranks *r)
{
	struct err e = { 0 };

	written(s, history_write_ranks(&s->writer, r, &e), &e);
}

void history_store_limit(struct history_store *s, uint64_t max_bytes, nsec_t keep)
{
	s->conf.keep = keep;
	s->conf.max_bytes = max_bytes;
	spooler_limit(s->spooler, SPOOL_DROP_OLDEST, max_bytes);
	loop_timer_arm(s->expire, 0);
}

void history_store_stats(struct history_store *s, struct history_store_stats *out)
{
	struct spool_stats spool;

	spooler_stats(s->spooler, &spool);
	*out = s->stats;
	out->lost += spool.lost_events;
	out->bytes = spool.disk_bytes;
	out->damaged = spool.damaged_bytes;
	out->is_failing = spool.is_failing || !s->is_open;
}

/* --- life */

int history_store_open(const struct history_store_conf *c, struct history_store **out,
		       struct err *e)
{
	struct history_store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->conf = *c;
	s->age = -1;
	history_writer_init(&s->writer, c->stream);
	s->cut = loop_timer_new(c->loop, on_cut, s);
	s->expire = loop_timer_new(c->loop, on_expire, s);
	rc = s->cut && s->expire ? open_spool(s, e) : err_nomem(e);
	if (rc) {
		history_store_close(s);
		return rc;
	}
	loop_timer_arm(s->expire, 0);
	*out = s;
	return 0;
}

void history_store_close(struct history_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < HISTORY_QUERIES_MAX; i++)
		history_query_cancel(&s->query[i]);
	if (s->spooler)
		history_store_cut(s);
	spooler_close(s->spooler);
	history_writer_done(&s->writer);
	loop_timer_free(s->cut);
	loop_timer_free(s->expire);
	free(s);
}
