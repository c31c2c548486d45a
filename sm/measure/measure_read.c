/* SPDX-License-Identifier: Apache-2.0 */
/* Reads: merges the values of hosts, and closes an interval when all have sent theirs, or late. */
#include "common/loop/loop.h"
#include "common/time/timebase.h"
#include "sm/measure/measure_internal.h"

#include <stdio.h>
#include <string.h>

nsec_t site_measures_now(const struct site_measures *f)
{
	return timebase_at(f->conf.timebase, loop_now(f->conf.loop));
}

void site_measures_site_token(const struct site_measures *f, struct token *out)
{
	snprintf(out->s, sizeof(out->s), "s_%u", f->conf.site(f->conf.arg));
}

static nsec_t grace(void *arg)
{
	const struct site_measure *m = arg;
	nsec_t third = SITE_MEASURES_GRACE_NS / SITE_MEASURES_GRACE_READS;
	int more = !m->is_above_sms		       ? 0
		   : nodes_level(m->f->conf.nodes) > 1 ? SITE_MEASURES_GRACE_STACKED
						       : SITE_MEASURES_GRACE_SITE;

	if (m->reads.every && m->reads.every < third)
		third = m->reads.every;
	return (SITE_MEASURES_GRACE_READS + more) * third;
}

/* A host has no values of the future, or of a read without a request. */
static int64_t newest(const struct site_measure *m)
{
	return m->reads.every ? read_clock_newest(&m->reads) : m->last_asked;
}

/* --- closing */

static void flush(struct site_measure *m)
{
	if (!m->is_stale)
		flowbox_flush(m->box);
}

static bool on_close(void *arg, bool is_late)
{
	struct site_measure *m = arg;
	const struct read_clock *r = &m->reads;
	struct token site;

	m->f->stats.reads++;
	m->f->stats.late += is_late;
	site_measures_site_token(m->f, &site);
	flowbox_begin(m->box, (uint64_t)r->read, r->read_at, site.s);
	m->f->current = m;
	if (!stage_read(m->stage, r->read, r->read_at, NULL))
		flowbox_end(m->box);
	m->f->current = NULL;
	flush(m);
	return true;
}

/* Depends on time alone if no host is connected. */
static bool is_whole(void *arg, int64_t read)
{
	int64_t all = stage_complete(((struct site_measure *)arg)->stage);

	return all != INT64_MAX && all >= read;
}

static nsec_t now_of(void *arg)
{
	return site_measures_now(((const struct site_measure *)arg)->f);
}

/* Passing on: sends the data of the read that is being assembled. */
static void close_frame(struct site_measure *m)
{
	if (!m->open)
		return;
	flowbox_end(m->box);
	if (m->open > m->reads.read) {
		m->reads.read = m->open;
		stage_pass(m->stage, m->open);
	}
	m->open = 0;
	m->f->stats.reads++;
	flush(m);
}

static void on_frame_late(void *arg)
{
	struct site_measure *m = arg;

	m->f->stats.late += m->open != 0;
	close_frame(m);
}

int site_measure_reads_init(struct site_measure *m)
{
	m->timer = loop_timer_new(m->f->conf.loop, on_frame_late, m);
	return m->timer ? read_clock_init(&m->reads,
					  &(struct read_clock_conf){ .loop = m->f->conf.loop,
								     .now = now_of,
								     .grace = grace,
								     .is_early = true,
								     .is_whole = is_whole,
								     .close = on_close,
								     .arg = m })
			: -ERR_NOMEM;
}

void site_measure_check_read(struct site_measure *m)
{
	if (m->reads.is_running)
		read_clock_tick(&m->reads);
	else if (m->open && is_whole(m, m->open))
		close_frame(m);
}

void site_measures_read(struct site_measures *f, const struct msg_flow_read *r)
{
	struct site_measure *m = map_find(&f->by_number, r->measurement);
	const struct msg down = { .type = MSG_FLOW_READ, .flow_read = *r };

	if (!m || m->reads.every || r->read > INT64_MAX / 2 || (int64_t)r->read <= m->reads.read ||
	    r->time_ns <= m->reads.start)
		return;
	if ((int64_t)r->read > m->last_asked)
		m->last_asked = (int64_t)r->read;
	branches_send_all(nodes_branches(f->conf.nodes), &down);
	if (m->reads.is_running)
		read_clock_ask(&m->reads, (int64_t)r->read, r->time_ns);
}

/* --- batches from below */

/* A late one is sent separately, and assembly continues after it. */
static void pass_on(struct site_measure *m, const struct msg_flow_batch *b,
		    const struct bytes *batch)
{
	if (m->open != (int64_t)b->read) {
		close_frame(m);
		m->open = (int64_t)b->read;
		flowbox_begin(m->box, b->read, b->time_ns, "");
		loop_timer_arm(m->timer, grace(m));
	}
	flowbox_add_bytes(m->box, batch->p, batch->n);
}

/*
 * The engine itself knows which reads may be open. When passing on, one host's read number moves
 * those of all.
 */
static bool is_to_come(const struct site_measure *m, int64_t read)
{
	return !m->reads.is_running && read > newest(m);
}

/*
 * Adds one link's part, or that of many. Dropped: data of a host that has moved or was planned
 * away, or of a future read.
 */
static int add_batch(struct site_measure *m, const struct branch *b, const struct msg_flow_batch *f,
		     const struct bytes *bytes, struct err *e)
{
	struct flow_batch batch;
	struct host_piece *s;
	int rc = flow_batch_decode(&m->f->room, bytes->p, bytes->n, &batch, e);

	if (rc)
		return rc == -ERR_LIMIT ? err_set(e, ERR_PROTO, "a batch that is too large") : rc;
	if (batch.measurement != m->id || (uint64_t)batch.read != f->read)
		return err_set(e, ERR_PROTO, "a batch of another read");
	s = stage_user(m->stage, batch.link);
	if (!s || is_to_come(m, batch.read) || stage_take(m->stage, b->index, &batch, NULL)) {
		m->f->stats.strays++;
		return 0;
	}
	s->frames += bytes == f->batch;
	s->bytes += bytes->n;
	if (!m->reads.is_running)
		pass_on(m, f, bytes);
	return 0;
}

int site_measures_batch(struct site_measures *f, struct branch *b, const struct msg_flow_batch *fb,
			struct err *e)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { fb->measurement } };
	struct site_measure *m = map_find(&f->by_number, fb->measurement);
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
		rc = add_batch(m, b, fb, &fb->batch[i], e);
	if (!rc)
		site_measure_check_read(m);
	return rc;
}

/* --- output of the engine */

void site_measures_on_batch(void *arg, const struct flow_batch *b)
{
	const struct site_measures *f = arg;

	if (f->current)
		flowbox_add(f->current->box, b);
}

/* A site has no outputs: the links carry the results of its pieces to the parent. */
void site_measures_on_result(void *arg, const struct flow_result *r)
{
}
