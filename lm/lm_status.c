/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the lm itself. */
#include "common/daemon/counters.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "lm/lm_internal.h"
#include "lm/proc/totals.h"
#include "lm/service/families.h"
#include "tree/wire.h"

#include <string.h>

/* Counters for both the service and the log. */
static void put_work(const struct lm *m, const struct counter_sink *f)
{
	struct inbox_stats in;
	struct csrs_stats csrs;
	struct tracebuf_stats traces;
	struct measurements_stats measurements;
	struct keeps_stats keeps;

	keeps_stats(m->recorder.keeps, &keeps);
	measurements_stats(m->measurements, &measurements);
	tracebufs_stats(m->tracebufs, &traces);
	inbox_stats(m->inbox, &in);
	csrs_stats(m->csrs, &csrs);
	f->number(f->arg, "requests", (int64_t)in.requests);
	f->number(f->arg, "requests_waiting", (int64_t)in.waiting);
	f->number(f->arg, "requests_repeated", (int64_t)in.repeated);
	f->number(f->arg, "replies_unsent", (int64_t)in.unsent);
	f->number(f->arg, "csrs_armed", (int64_t)csrs_count(m->csrs));
	f->number(f->arg, "events_fired", (int64_t)csrs.fired);
	f->number(f->arg, "events_dropped", (int64_t)csrs.dropped);
	f->number(f->arg, "rings_polled", csrs.is_polling);
	f->number(f->arg, "measurements", (int64_t)measurements.measurements);
	f->number(f->arg, "flow_nodes", (int64_t)measurements.nodes);
	f->number(f->arg, "flow_state_bytes", (int64_t)measurements.state_bytes);
	f->number(f->arg, "flow_reads", (int64_t)measurements.reads);
	f->number(f->arg, "counters", (int64_t)pa_count(m->pa));
	f->number(f->arg, "trace_buffers", (int64_t)traces.buffers);
	f->number(f->arg, "trace_bytes", (int64_t)traces.bytes);
	f->number(f->arg, "trace_records_dropped", (int64_t)traces.dropped);
	f->number(f->arg, "subscriptions", (int64_t)keeps.n);
	f->number(f->arg, "spool_bytes", (int64_t)keeps.disk_bytes);
	f->number(f->arg, "spool_events_lost", (int64_t)keeps.lost_events);
}

static void put_below(const struct lm *m, const struct counter_sink *f)
{
	struct registration_stats in;
	int64_t all = 0;

	registration_stats(m->registration, &in);
	list_each (i, procs_all(m->procs))
		all++;
	f->number(f->arg, "processes", (int64_t)procs_alive(m->procs));
	f->number(f->arg, "processes_ended", all - (int64_t)procs_alive(m->procs));
	f->number(f->arg, "processes_stopped", (int64_t)holds_count(m->holds));
	f->number(f->arg, "segments_taken", (int64_t)in.taken);
	f->number(f->arg, "segments_adopted", (int64_t)in.adopted);
	f->number(f->arg, "segments_refused", (int64_t)in.refused);
	f->number(f->arg, "segments_of_other_builds", (int64_t)in.of_other_builds);
	f->number(f->arg, "segment_version", SEG_VERSION);
	f->number(f->arg, "segments_corrupt", (int64_t)procs_detached(m->procs));
}

static void put_losses(const struct lm *m, const struct counter_sink *f)
{
	struct losses l;

	calls_losses(m->calls, &l);
	f->number(f->arg, "threads_unwatched", (int64_t)l.threads);
	f->number(f->arg, "calls_unwatched", (int64_t)l.calls);
	f->number(f->arg, "calls_without_partner", (int64_t)l.partner_calls);
	f->number(f->arg, "actions_skipped", (int64_t)l.actions);
	f->number(f->arg, "requests_uncounted", (int64_t)l.requests);
	f->number(f->arg, "records_dropped", (int64_t)l.records);
}

static void put_link(const struct lm *m, const struct counter_sink *f)
{
	const struct identity *self = m->parent ? net_ctx_self(parent_ctx(m->parent)) : NULL;
	struct link_stats s;

	counters_of_certificate(f, self);
	if (!m->parent || !parent_stats(m->parent, &s))
		return;
	counters_of_parent(f, &s, timebase_error(m->conf.timebase, loop_now(m->conf.loop)));
}

static void put_process(const struct lm *m, const struct counter_sink *f)
{
	struct daemon_health h = { 0 };

	if (!m->conf.health)
		return;
	m->conf.health(m->conf.arg, &h);
	counters_of_process(f, &h);
}

static void put_all(const struct lm *m, const struct counter_sink *f)
{
	put_below(m, f);
	put_work(m, f);
	put_losses(m, f);
	put_link(m, f);
	put_process(m, f);
}

static void write_pair(void *arg, const char *name, int64_t v)
{
	omis_write_pair(arg, name, v);
}

static void write_status(const struct lm *m, struct omis_writer *w)
{
	omis_write_string(w, "lm");
	omis_write_string(w, OMIG_VERSION);
	omis_write_int(w, loop_now(m->conf.loop) - m->opened);
	put_all(m, &(struct counter_sink){ write_pair, w });
}

static int serve_status(struct service_call *c)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	write_status(c->of, &w);
	rc = b.failed ? -ERR_NOMEM
		      : reply_add(c->reply, c->action, procs_node_token(c->procs), STATUS_OK,
				  buf_str(&b));
	buf_done(&b);
	return rc;
}

/* A host without a piece of the measurement adds nothing. */
static int serve_dfg_look(struct service_call *c)
{
	const struct lm *m = c->of;
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	int64_t measurement = call_int(c, 1);
	int rc = 0;

	if (call_is_for_us(c) && measurement > 0 && measurement <= UINT32_MAX)
		rc = measurements_write(m->measurements, (uint32_t)measurement, &w);
	if (!rc && b.n)
		rc = b.failed ? -ERR_LIMIT
			      : reply_add(c->reply, c->action, procs_node_token(c->procs),
					  STATUS_OK, buf_str(&b));
	buf_done(&b);
	return rc == -ERR_NOTFOUND ? 0 : rc;
}

static void print_line(void *arg, const char *name, int64_t v)
{
	buf_printf(arg, "%s=%lld\n", name, (long long)v);
}

void lm_dump(const struct lm *m, struct buf *out)
{
	struct link_stats s;

	buf_printf(out, "parent=%s node=%s\n", m->parent ? parent_kind(m->parent) : "none",
		   procs_node_token(m->procs));
	if (m->parent && parent_stats(m->parent, &s))
		buf_printf(out, "peer=%s last_error=\"%s\"\n", s.peer, s.last_error);
	put_all(m, &(struct counter_sink){ print_line, out });
}

const struct service status_services[] = {
	{ "omig_dfg_look", serve_dfg_look },
	{ "omig_status", serve_status },
	{ NULL, NULL },
};
