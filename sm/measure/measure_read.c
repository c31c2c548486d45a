/* SPDX-License-Identifier: Apache-2.0 */
/* Reads: merges the values of hosts, and closes an interval when all have sent theirs, or late. */
#include "common/base/str.h"
#include "common/flow/batch/rest.h"
#include "common/flow/graph/graph_limits.h"
#include "common/loop/loop.h"
#include "sm/measure/measure_internal.h"

#include <string.h>

static nsec_t grace(const struct site_measure *m)
{
	nsec_t third = SITE_MEASURES_GRACE_NS / SITE_MEASURES_GRACE_READS;
	int more = !m->nbelow_sms		       ? 0
		   : nodes_level(m->f->conf.nodes) > 1 ? SITE_MEASURES_GRACE_STACKED
						       : SITE_MEASURES_GRACE_SITE;

	if (m->every && m->every < third)
		third = m->every;
	return (SITE_MEASURES_GRACE_READS + more) * third;
}

static nsec_t end_of(const struct site_measure *m, uint64_t read)
{
	return m->start + (nsec_t)read * m->every;
}

/* The last read whose time of grace is over. */
static uint64_t due(const struct site_measure *m, nsec_t now)
{
	nsec_t t = now - grace(m);

	return t <= m->start ? 0 : (uint64_t)((t - m->start) / m->every);
}

/* A host has no values of the future, beyond the difference of clocks, nor of a read without a
 * request. */
static uint64_t newest(const struct site_measure *m)
{
	return m->every ? due(m, site_measures_now(m->f) + 2 * grace(m)) + 1 : m->last_asked;
}

/* --- closing */

static void push_clocks(struct site_measure *m, uint64_t read, nsec_t t)
{
	const struct flow_token token =
		flow_token_make((int64_t)read, (double)(t - m->start) * 1e-9, 0, t);

	for (size_t i = 0; i < m->nclock; i++)
		flow_push(m->f->engine, m->clock[i], &token);
}

static void flush(struct site_measure *m)
{
	if (!m->is_stale)
		flowbox_flush(m->box);
}

static void set_read(struct site_measure *m, uint64_t read)
{
	m->read = read;
	m->is_counted = false;
}

static void close_read(struct site_measure *m, uint64_t read, nsec_t t)
{
	struct token site;

	set_read(m, read);
	m->f->stats.reads++;
	site_measures_site_token(m->f, &site);
	push_clocks(m, read, t);
	flowbox_begin(m->box, read, t, site.s);
	m->f->current = m;
	if (!flow_read(m->f->engine, m->id, (int64_t)read, t, NULL))
		flowbox_end(m->box);
	m->f->current = NULL;
	flush(m);
}

/* Passing on: what has come of the read that is being put together goes. */
static void close_frame(struct site_measure *m)
{
	if (!m->open)
		return;
	flowbox_end(m->box);
	if (m->open > m->read)
		set_read(m, m->open);
	m->open = 0;
	m->f->stats.reads++;
	flush(m);
}

static bool is_behind(const struct site_measure *m, const struct host_piece *s)
{
	return s->is_open && s->got <= m->read;
}

static void count_behind(struct site_measure *m)
{
	struct smap_iter i = { 0 };

	m->nbehind = 0;
	while (smap_next(&m->parts, &i))
		m->nbehind += is_behind(m, i.value);
	m->is_counted = true;
}

static void note_got(struct site_measure *m, struct host_piece *s, uint64_t read)
{
	bool was = is_behind(m, s);

	if (read > s->got)
		s->got = read;
	m->nbehind -= m->is_counted && was && !is_behind(m, s);
}

/* Is there a host without anything newer than the closed reads? Then a batch needs no scan of all
 * hosts. */
static bool has_nothing_to_close(struct site_measure *m)
{
	if (!m->has_piece && m->open && m->open <= m->read)
		return false; /* a late one, which goes when all have passed it */
	if (!m->is_counted)
		count_behind(m);
	return m->nbehind != 0;
}

/* The lowest read that all connected hosts have sent; UINT64_MAX: there are none. */
static uint64_t complete(const struct site_measure *m)
{
	uint64_t low = UINT64_MAX;
	struct smap_iter i = { 0 };

	while (smap_next(&m->parts, &i)) {
		const struct host_piece *s = i.value;

		if (s->is_open && s->got < low)
			low = s->got;
	}
	return low;
}

/* Reads that were left out are read one by one as long as they are kept apart. */
static void close_up_to(struct site_measure *m, uint64_t read)
{
	uint64_t from = m->read + 1;

	if (read > FLOW_READS_OPEN && from < read - FLOW_READS_OPEN + 1)
		from = read - FLOW_READS_OPEN + 1;
	for (; from <= read; from++)
		close_read(m, from, end_of(m, from));
}

static void close_asked(struct site_measure *m)
{
	uint64_t read = m->asked;

	m->asked = 0;
	if (m->has_piece && read > m->read)
		close_read(m, read, m->asked_at);
}

static void close_complete(struct site_measure *m)
{
	uint64_t all = complete(m);

	if (all == UINT64_MAX)
		return;
	if (!m->has_piece) {
		if (m->open && all >= m->open)
			close_frame(m);
	} else if (m->every && all > m->read) {
		uint64_t now = newest(m);

		close_up_to(m, all < now ? all : now);
	} else if (m->asked && all >= m->asked) {
		close_asked(m);
	}
	site_measure_arm(m);
}

void site_measure_check_read(struct site_measure *m)
{
	if (!has_nothing_to_close(m))
		close_complete(m);
	else
		site_measure_arm(m);
}

/* --- time */

void site_measure_arm(struct site_measure *m)
{
	nsec_t now = site_measures_now(m->f), at;

	if (!m->has_piece || !m->every)
		return;
	at = end_of(m, m->read + 1) + grace(m);
	loop_timer_arm(m->timer, at > now ? at - now : 0);
}

void site_measure_on_timer(void *arg)
{
	struct site_measure *m = arg;
	uint64_t read;

	if (!m->has_piece) {
		m->f->stats.late++;
		close_frame(m);
	} else if (m->every) {
		read = due(m, site_measures_now(m->f));
		m->f->stats.late += read > m->read;
		close_up_to(m, read);
	} else if (m->asked) {
		m->f->stats.late++;
		close_asked(m);
	}
	site_measure_arm(m);
}

void site_measures_read(struct site_measures *f, const struct msg_flow_read *r)
{
	struct site_measure *m = site_measures_find(f, r->measurement);
	const struct msg down = { .type = MSG_FLOW_READ, .flow_read = *r };

	if (!m || m->every || r->read <= m->read || r->read > INT64_MAX / 2 ||
	    r->time_ns <= m->start)
		return;
	if (m->asked)
		close_asked(m);
	if (r->read > m->last_asked)
		m->last_asked = r->read;
	branches_send_all(nodes_branches(f->conf.nodes), &down);
	if (!m->has_piece)
		return;
	m->asked = r->read;
	m->asked_at = r->time_ns;
	loop_timer_arm(m->timer, grace(m));
}

/* --- what comes up */

/* A late one goes by itself, and what is being put together goes on after it. */
static void pass_on(struct site_measure *m, const struct msg_flow_batch *b,
		    const struct bytes *batch)
{
	if (m->open != b->read) {
		close_frame(m);
		m->open = b->read;
		flowbox_begin(m->box, b->read, b->time_ns, "");
		loop_timer_arm(m->timer, grace(m));
	}
	flowbox_add_bytes(m->box, batch->p, batch->n);
}

/* The engine knows by itself which reads may be open; passing on, one host's word moves those of
 * all. */
static bool is_to_come(const struct site_measure *m, uint64_t read)
{
	return !m->has_piece && read > newest(m);
}

struct taking {
	struct site_measure *m;
	const struct host_piece *from;
};

static const char *link_at(void *arg, size_t i)
{
	const struct host_piece *s = ((struct taking *)arg)->from;

	return i < s->nlink ? s->link[i] : NULL;
}

static bool has_reported(void *arg, const char *link, int64_t read)
{
	const struct site_measure *m = ((struct taking *)arg)->m;

	return flow_has_taken(m->f->engine, m->id, link, read);
}

static void take_one(void *arg, const struct flow_batch *b)
{
	const struct site_measure *m = ((struct taking *)arg)->m;

	if (flow_take(m->f->engine, b, NULL))
		m->f->stats.strays++; /* the host and we were not planned together */
}

static void take_here(struct site_measure *m, const struct host_piece *s,
		      const struct flow_batch *b)
{
	struct taking t = { m, s };
	const struct flow_rest_links links = { link_at, has_reported, take_one, &t };

	if (!b->rest)
		take_one(&t, b);
	else if (flow_rest_apart(b, &links))
		m->f->stats.strays++;
}

/* One link's part, or that of many. One of a host that is elsewhere now, or was planned away, or of
 * a read to come, is dropped. */
static int take_batch(struct site_measure *m, const struct branch *b,
		      const struct msg_flow_batch *f, const struct bytes *bytes, struct err *e)
{
	struct flow_batch batch;
	struct host_piece *s;
	int rc = flow_batch_decode(&m->f->room, bytes->p, bytes->n, &batch, e);

	if (rc)
		return rc == -ERR_LIMIT ? err_set(e, ERR_PROTO, "a batch that is too large") : rc;
	if (batch.measurement != m->id || (uint64_t)batch.read != f->read)
		return err_set(e, ERR_PROTO, "a batch of another read");
	s = smap_find(&m->links, batch.link);
	if (!s || s->branch != b->index || is_to_come(m, f->read)) {
		m->f->stats.strays++;
		return 0;
	}
	note_got(m, s, f->read);
	s->frames += bytes == f->batch;
	s->bytes += bytes->n;
	if (m->has_piece)
		take_here(m, s, &batch);
	else
		pass_on(m, f, bytes);
	return 0;
}

int site_measures_batch(struct site_measures *f, struct branch *b, const struct msg_flow_batch *fb,
			struct err *e)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { fb->measurement } };
	struct site_measure *m = site_measures_find(f, fb->measurement);
	int rc = 0;

	if (fb->object[0] && !branch_owns(b, fb->object, strlen(fb->object)))
		return err_set(e, ERR_DENIED, "values of a host that is not its own");
	if (!m) {
		f->stats.strays++;
		branch_send(b, &end);
		return err_set(e, ERR_NOTFOUND, "nothing is loaded there");
	}
	flowbox_add_dropped(m->box, fb->dropped);
	for (size_t i = 0; i < fb->nbatch && !rc; i++)
		rc = take_batch(m, b, fb, &fb->batch[i], e);
	if (!rc)
		site_measure_check_read(m);
	return rc;
}

/* --- what comes out of the engine */

void site_measures_on_batch(void *arg, const struct flow_batch *b)
{
	const struct site_measures *f = arg;

	if (f->current)
		flowbox_add(f->current->box, b);
}

/* A site has no outputs: what a piece here gives goes up by its links. */
void site_measures_on_result(void *arg, const struct flow_result *r)
{
}
