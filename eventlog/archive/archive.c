/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/archive.h"

#include "eventlog/archive/ardesc.h"
#include "eventlog/archive/arloaded.h"
#include "eventlog/archive/arsame.h"
#include "eventlog/archive/arvalue.h"

#include <inttypes.h>

#define SIDS_MAX (INT64_C(1) << (63 - ARCHIVE_NUMBER_BITS))
#define EVENTS_A_LOOK 1024 /* events between two readings of the clock */

struct stream {
	int64_t sid; /* 0: its number exceeds the archive's range */
	struct arloaded loaded;
	bool has_constants, is_dirty;
	struct stream *next; /* next stream with unsaved changes */
};

struct archive {
	struct arsql sql;
	struct arcat cat;
	struct ardescs descs;
	int64_t generation, sids; /* generation of the archive, and highest number of a stream */
	bool is_open, has_failed; /* is_open: a batch is open */
	struct map streams; /* -> struct stream *, owned */
	struct stream *dirty, *last;
	uint64_t last_id;
	struct archive_report report;
	uint64_t batch; /* largest number of events of a batch */
	uint64_t events, bytes; /* events and bytes in this batch */
	nsec_t since;
	bool is_comparing;
	struct arsame same; /* events of the current text that the archive has already */
	uint64_t known_before; /* report.known at the begin of the text */
	struct arvalue row[3 + AR_COLUMNS_MAX];
};

/* --- state in memory */

static void forget(struct archive *a)
{
	struct map_iter i = { 0 };

	ardescs_clear(&a->descs);
	while (map_next(&a->streams, &i)) {
		arloaded_done(&((struct stream *)i.value)->loaded);
		free(i.value);
	}
	map_done(&a->streams);
	a->dirty = a->last = NULL;
	arcat_done(&a->cat);
	arcat_init(&a->cat);
}

static int load(struct archive *a, struct err *e)
{
	int rc;

	forget(a);
	rc = arcat_load(&a->cat, &a->sql, e);
	rc = rc ? rc : arsql_count(&a->sql, "SELECT max(sid) FROM stream", SIDS_MAX, &a->sids, e);
	rc = rc ? rc : ardescs_load(&a->descs, e);
	return rc ? rc
		  : arsql_count(&a->sql, "SELECT generation FROM archive", AR_COUNTS_MAX,
				&a->generation, e);
}

/* Reads one state of all tables, while other loaders may commit. */
static int load_at_open(struct archive *a, struct err *e)
{
	int rc = a->sql.ops->view(a->sql.db, e);

	if (rc)
		return rc;
	rc = load(a, e);
	a->sql.ops->rollback(a->sql.db);
	return rc;
}

int archive_open(const char *where, enum armode mode, nsec_t time_ns, struct archive **out,
		 struct err *e)
{
	struct archive *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return err_nomem(e);
	a->batch = ARCHIVE_BATCH_EVENTS;
	map_init(&a->streams);
	arcat_init(&a->cat);
	ardescs_init(&a->descs, &a->cat, &a->sql);
	arsame_init(&a->same);
	rc = arpg_is_url(where) ? arpg_open(where, mode, time_ns, &a->sql, e)
				: arlite_open(where, mode, time_ns, &a->sql, e);
	rc = rc ? rc : arschema_check(&a->sql, mode, e);
	rc = rc ? rc : load_at_open(a, e);
	if (rc) {
		archive_close(a);
		return rc;
	}
	*out = a;
	return 0;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	if (a->is_open)
		a->sql.ops->rollback(a->sql.db);
	forget(a);
	arcat_done(&a->cat);
	arsame_done(&a->same);
	arsql_close(&a->sql);
	free(a);
}

void archive_set_batch(struct archive *a, uint64_t events)
{
	a->batch = events;
}

const struct archive_report *archive_report(const struct archive *a)
{
	return &a->report;
}

const struct arsql *archive_sql(const struct archive *a)
{
	return &a->sql;
}

const struct arcat *archive_cat(const struct archive *a)
{
	return &a->cat;
}

/* --- streams */

static int take_stream(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	struct stream *s = arg;

	if (v[0].class != AR_INT || v[0].i <= 0 || v[0].i >= SIDS_MAX)
		return err_set(e, ERR_INVALID,
			       "is not an archive of Omig: a stream has an invalid number");
	s->sid = v[0].i;
	s->has_constants = v[1].class == AR_BYTES;
	return 0;
}

static int find_stream(struct archive *a, uint64_t id, struct stream *s, struct err *e)
{
	struct arvalue v[] = { AR_I((int64_t)id), AR_I(0) };
	int rc = a->sql.ops->run(
		a->sql.db,
		&(struct arsql_statement){
			.text = "SELECT sid, bytes FROM stream WHERE stream = $1", .v = v, .n = 1 },
		take_stream, s, e);

	if (rc || s->sid)
		return rc ? rc : arloaded_load(&s->loaded, &a->sql, s->sid, e);
	if (a->sids + 1 >= SIDS_MAX)
		return 0;
	s->sid = ++a->sids;
	v[1] = AR_I(s->sid);
	return arsql_run(&a->sql, "INSERT INTO stream (stream, sid) VALUES ($1, $2)", v, 2, e);
}

static int stream_of(struct archive *a, uint64_t id, struct stream **out, struct err *e)
{
	struct stream *s = a->last && a->last_id == id ? a->last : map_find(&a->streams, id);
	int rc;

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return err_nomem(e);
		arloaded_init(&s->loaded);
		rc = find_stream(a, id, s, e);
		if (!rc && map_put(&a->streams, id, s, NULL))
			rc = err_nomem(e);
		if (rc) {
			arloaded_done(&s->loaded);
			free(s);
			return rc;
		}
	}
	a->last = *out = s;
	a->last_id = id;
	return 0;
}

static int put_stream_type(struct archive *a, struct stream *s, const struct evtype *t,
			   struct err *e)
{
	struct buf b = BUF_INIT(EV_RECORD_MAX_BYTES);
	int rc = evtype_encode(&b, 0, t, false, e);
	struct arvalue v[] = { AR_B(b.p, b.n), AR_I(s->sid) };

	rc = rc ? rc : arsql_run(&a->sql, "UPDATE stream SET bytes = $1 WHERE sid = $2", v, 2, e);
	rc = rc ? rc
		: arvalue_constants(
			  &a->sql,
			  "INSERT INTO stream_constant (sid, place, name, value) VALUES ($1, $2, $3, $4)",
			  s->sid, t, e);
	buf_done(&b);
	s->has_constants = true;
	return rc;
}

/* --- rows */

static void count_in(struct arfield *f, const struct arvalue *v)
{
	if (v->class <= AR_REAL &&
	    moments_add(&f->figures, v->class == AR_INT ? (double)v->i : v->r))
		f->is_changed = true;
}

/* Fills the cells of the event's fields. All others are NULL. */
static int fill_row(struct archive *a, const struct ardesc *x, const struct event *ev,
		    struct err *e)
{
	memset(a->row + 3, 0, x->t->nfield * sizeof(a->row[0]));
	for (unsigned i = 0; i < x->like->nfield; i++) {
		struct arvalue v = arvalue_of(&ev->value[i]);
		struct arfield *f = x->field[i];

		if (f && f->class != v.class) { /* a NaN, or bytes that are not text */
			struct arfield like = arvalue_field(x->like, i, v.class);
			int rc = arcat_field(&a->cat, x->t, &like, &f, e);

			if (rc)
				return rc;
		}
		if (!f) {
			a->report.fields_left_out++;
			continue;
		}
		a->row[3 + f->place] = v;
		a->bytes += v.class >= AR_TEXT ? v.n : 0;
		count_in(f, &v);
	}
	return 0;
}

static void count(struct artype *t, int64_t ts)
{
	if (!t->n || ts < t->first_ns)
		t->first_ns = ts;
	if (!t->n || ts > t->last_ns)
		t->last_ns = ts;
	t->n++;
	t->is_changed = true;
}

static int put_row(struct archive *a, const struct ardesc *x, const struct stream *s,
		   const struct event *ev, struct err *e)
{
	int rc = fill_row(a, x, ev, e);

	rc = rc || x->t->is_ready ? rc : arcat_ready(&a->cat, &a->sql, x->t, e);
	if (rc)
		return rc;
	a->row[0] = AR_I(s->sid << ARCHIVE_NUMBER_BITS | (int64_t)ev->number);
	a->row[1] = AR_I(ev->wall_ns);
	a->row[2] = AR_I(x->d);
	count(x->t, ev->wall_ns);
	return a->sql.ops->put(a->sql.db, x->t->number, a->row, 3 + (unsigned)x->t->nfield, e);
}

/* --- batches */

static int begin(struct archive *a, struct err *e)
{
	int64_t now = 0;
	int rc = a->sql.ops->begin(a->sql.db, e);

	if (rc)
		return rc;
	a->is_open = true;
	a->events = a->bytes = 0;
	a->since = clock_mono();
	rc = arsql_number(&a->sql, "SELECT generation FROM archive", &now, e);
	/* if another loader has written, the state is loaded again */
	return rc || now == a->generation ? rc : load(a, e);
}

static int save(struct archive *a, struct err *e)
{
	int rc = arcat_save(&a->cat, &a->sql, e);

	for (struct stream *s = a->dirty; !rc && s; s = s->next) {
		rc = arloaded_save(&s->loaded, &a->sql, s->sid, e);
		s->is_dirty = false;
	}
	a->dirty = NULL;
	return rc ? rc : arsql_do(&a->sql, "UPDATE archive SET generation = generation + 1", e);
}

static int commit(struct archive *a, struct err *e)
{
	bool has_changed = a->events > 0;
	int rc;

	if (!a->is_open)
		return 0;
	rc = has_changed ? save(a, e) : 0;
	rc = rc ? rc : a->sql.ops->commit(a->sql.db, e);
	if (rc)
		return rc;
	a->is_open = false;
	a->generation += has_changed;
	a->report.batches += has_changed;
	a->report.safe = a->report.stored;
	return has_changed;
}

static bool is_full(const struct archive *a)
{
	return a->events >= a->batch || a->bytes >= ARCHIVE_BATCH_BYTES ||
	       (a->report.seen % EVENTS_A_LOOK == 0 && clock_mono() - a->since > ARCHIVE_BATCH_NS);
}

static int store(struct archive *a, struct stream *s, const struct event *ev, struct err *e)
{
	struct ardesc *x;
	int rc = ev->stream_type && !s->has_constants ? put_stream_type(a, s, ev->stream_type, e)
						      : 0;

	rc = rc ? rc : ardescs_find(&a->descs, ev->type, &x, e);
	if (rc)
		return rc;
	a->events++;
	if (!s->is_dirty) {
		s->is_dirty = true;
		s->next = a->dirty;
		a->dirty = s;
	}
	if (!x->t) {
		a->report.left_out++;
		return 0;
	}
	a->report.stored++;
	return put_row(a, x, s, ev, e);
}

/* --- texts */

void archive_compare(struct archive *a, bool is_wanted)
{
	a->is_comparing = is_wanted;
	a->known_before = a->report.known;
	arsame_clear(&a->same);
}

/* Ends the batch, because only committed events can be compared. */
static int compare(struct archive *a, struct err *e)
{
	bool is_same = true;
	int got = commit(a, e);

	got = got < 0 ? got : arsame_ask(&a->same, &a->sql, &is_same, e);
	if (got || is_same)
		return got;
	a->report.known = a->known_before;
	return err_set(e, ERR_EXISTS,
		       "the archive has another text that begins with the same event");
}

static int put_known(struct archive *a, const struct stream *s, const struct event *ev,
		     struct err *e)
{
	int rc;

	a->report.known++;
	if (!a->is_comparing)
		return 0;
	rc = arsame_add(&a->same, &a->cat, s->sid << ARCHIVE_NUMBER_BITS | (int64_t)ev->number, ev,
			e);
	return rc || !arsame_is_full(&a->same) ? rc : compare(a, e);
}

/* --- events */

/* out->sid is 0 without room for the stream. Opens a batch if needed. */
static int begin_event(struct archive *a, const struct event *ev, struct stream **out,
		       struct err *e)
{
	int rc = a->is_open ? 0 : begin(a, e);

	return rc ? rc : stream_of(a, ev->stream, out, e);
}

/* Stores nothing of a text that continues differently in the archive. */
static int begin_new(struct archive *a, const struct event *ev, struct stream **s, struct err *e)
{
	int rc = begin_event(a, ev, s, e);

	if (rc || !(a->same.n || a->same.differs) || !(*s)->sid ||
	    arloaded_has(&(*s)->loaded, (int64_t)ev->number))
		return rc;
	rc = compare(a, e);
	return rc ? rc : begin_event(a, ev, s, e);
}

static int put(struct archive *a, const struct event *ev, struct err *e)
{
	struct stream *s = NULL;
	int rc;

	a->report.seen++;
	/*
	 * This test is first, because no stream may be made without events: other loaders do not
	 * see it.
	 */
	if (ev->number >> ARCHIVE_NUMBER_BITS) {
		a->report.unnumbered++;
		return 0;
	}
	rc = begin_new(a, ev, &s, e);
	if (rc)
		return rc;
	if (!s->sid) {
		a->report.unnumbered++;
		return 0;
	}
	rc = arloaded_add(&s->loaded, (int64_t)ev->number, e);
	rc = !rc ? put_known(a, s, ev, e) : rc == 1 ? store(a, s, ev, e) : rc;
	return rc || !is_full(a) ? rc : commit(a, e);
}

/* Notes a failure of the archive. A text that continues differently is not such a failure. */
static int note_failure(struct archive *a, int got)
{
	a->has_failed = got < 0 && got != -ERR_EXISTS;
	return got;
}

int archive_put(struct archive *a, const struct event *ev, struct err *e)
{
	return note_failure(a, a->has_failed
				       ? err_set(e, ERR_CLOSED, "the archive has failed before")
				       : put(a, ev, e));
}

static int commit_with(struct archive *a, archive_also_fn also, void *arg, struct err *e)
{
	int rc = also && !a->is_open ? begin(a, e) : 0;

	rc = rc || !also ? rc : also(arg, &a->sql, e);
	return rc ? rc : compare(a, e);
}

int archive_commit_with(struct archive *a, archive_also_fn also, void *arg, struct err *e)
{
	return note_failure(a, a->has_failed
				       ? err_set(e, ERR_CLOSED, "the archive has failed before")
				       : commit_with(a, also, arg, e));
}

int archive_commit(struct archive *a, struct err *e)
{
	return archive_commit_with(a, NULL, NULL, e);
}
