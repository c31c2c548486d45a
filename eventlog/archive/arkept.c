/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arkept.h"

#include "common/base/array.h"
#include "common/base/buf.h"

static int make_table(void *arg, const struct arsql *s, struct err *e)
{
	struct buf b = BUF_INIT(4096);
	int rc;

	buf_printf(
		&b,
		"CREATE TABLE IF NOT EXISTS %skept (stream %s, seq BIGINT NOT NULL, first BIGINT NOT NULL, stored BIGINT NOT NULL, "
		"left_out BIGINT NOT NULL, dropped BIGINT NOT NULL, is_over BIGINT NOT NULL)",
		s->ops->schema, s->ops->key);
	rc = b.failed ? err_nomem(e) : arsql_do(s, buf_str(&b), e);
	buf_done(&b);
	return rc;
}

static int take(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		struct err *e)
{
	struct evbalance_stream s = { 0 };
	bool is_good = v[0].class == AR_INT;

	for (unsigned i = 1; i < n; i++)
		is_good &= v[i].class == AR_INT && v[i].i >= 0;
	if (!is_good)
		return err_set(e, ERR_INVALID,
			       "is not an archive of Omig: its state of a stream is invalid");
	s.id = (uint64_t)v[0].i;
	s.seq = (uint64_t)v[1].i;
	s.first = (uint64_t)v[2].i;
	s.stored = (uint64_t)v[3].i;
	s.left_out = (uint64_t)v[4].i;
	s.dropped = (uint64_t)v[5].i;
	s.is_over = v[6].i > 0;
	return evbalance_restore(arg, &s, e);
}

int arkept_open(struct archive *a, struct evbalance *b, struct err *e)
{
	const struct arsql *s = archive_sql(a);
	int rc = archive_commit_with(a, make_table, NULL, e);

	return rc ? rc
		  : s->ops->run(
			    s->db,
			    &(struct arsql_statement){
				    .text = "SELECT stream, seq, first, stored, left_out, dropped, is_over FROM kept" },
			    take, b, e);
}

/* Returns how many of the events passed to it the archive lacks. */
static uint64_t missing(const struct archive *a)
{
	const struct archive_report *r = archive_report(a);

	return r->left_out + r->unnumbered;
}

static int put_events(struct archive *a, struct evread *r, struct bytes block, uint64_t *put,
		      struct err *e)
{
	struct event ev;
	size_t used;
	int got = evread_push(r, block.p, block.n, true, &used) < 0 ? err_nomem(e) : 0;

	while (got >= 0 && evread_next(r, &ev)) {
		got = archive_put(a, &ev, e);
		++*put;
	}
	return got < 0 ? got : 0;
}

/* A separate reader for each block, because a block contains all that is needed to read it. */
int arkept_block(struct archive *a, struct evbalance_stream *s, const uint8_t *p,
		 const struct evblock *head, struct err *e)
{
	struct evread *r = evread_new();
	uint64_t before = missing(a), put = 0, lacks;
	int rc = r ? put_events(a, r, bytes_at(p, head->bytes), &put, e) : err_nomem(e);

	evread_free(r);
	if (rc)
		return rc;
	lacks = missing(a) - before + (put < head->events ? head->events - put : 0);
	evbalance_left_out(s, lacks);
	return 0;
}

static int save_stream(const struct arsql *q, const struct evbalance_stream *s, struct err *e)
{
	struct arvalue v[] = {
		AR_I((int64_t)s->id),	  AR_I((int64_t)s->seq),      AR_I((int64_t)s->first),
		AR_I((int64_t)s->stored), AR_I((int64_t)s->left_out), AR_I((int64_t)s->dropped),
		AR_I(s->is_over)
	};
	int rc = arsql_run(q, "DELETE FROM kept WHERE stream = $1", v, 1, e);

	return rc ? rc
		  : arsql_run(
			    q,
			    "INSERT INTO kept (stream, seq, first, stored, left_out, dropped, is_over) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			    v, ARRAY_LEN(v), e);
}

static int save(void *arg, const struct arsql *q, struct err *e)
{
	const struct evbalance *b = arg;
	int rc = 0;

	for (const struct evbalance_stream *s = b->changed; !rc && s; s = s->next)
		rc = save_stream(q, s, e);
	return rc;
}

int arkept_commit(struct archive *a, struct evbalance *b, struct err *e)
{
	int rc = b->changed ? archive_commit_with(a, save, b, e) : archive_commit(a, e);

	if (!rc)
		evbalance_saved(b);
	return rc;
}
