/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/lm.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/audit/audit.h"
#include "common/loop/loop.h"
#include "common/member/server_link.h"
#include "common/net/net.h"
#include "lm/record/recorder.h"
#include "lm/proc/hooks.h"
#include "lm/lm_internal.h"
#include "lm/service/look.h"

#include <stdlib.h>
#include <string.h>

/* --- the link to the parent */

static int send_up(void *arg, const struct msg *m)
{
	struct lm *lm = arg;

	return lm->parent ? parent_send(lm->parent, m) : -ERR_CLOSED;
}

static int send_frames(void *arg, const uint8_t *p, size_t n)
{
	struct lm *lm = arg;

	return lm->parent ? parent_send_frames(lm->parent, p, n) : -ERR_CLOSED;
}

static void on_up(void *arg, uint32_t node, bool is_other)
{
	struct lm *m = arg;

	log_notice("lm", "connected parent=%s node=%u", parent_kind(m->parent), node);
	if (node != procs_node(m->procs))
		procs_set_node(m->procs, node);
	if (is_other || parent_is_another(m->parent))
		holds_let_go(m->holds, "a daemon above has restarted");
	holds_link(m->holds, true);
	csrs_link(m->csrs, true);
	measurements_link(m->measurements, true);
	announce_link(m->announce, true);
	if (m->conf.on_up)
		m->conf.on_up(m->conf.arg);
}

static void on_down(void *arg, const struct err *why)
{
	struct lm *m = arg;

	log_warn("lm", "connection lost reason=\"%s\", trying again", why->text);
	announce_link(m->announce, false);
	keeps_link_down(m->recorder.keeps);
	inbox_link_lost(m->inbox);
	holds_link(m->holds, false);
	csrs_link(m->csrs, false);
	measurements_link(m->measurements, false);
}

static void on_writable(void *arg)
{
	struct lm *m = arg;

	announce_room(m->announce);
}

static void on_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	log_warn("lm", "not connected reason=\"%s\", retrying in %lld ms", why->text,
		 (long long)(retry_in / NSEC_PER_MSEC));
}

/* --- messages of the parent */

static void on_tool_gone(struct lm *m, uint32_t tool)
{
	csrs_tool_gone(m->csrs, tool);
	measurements_tool_gone(m->measurements, tool);
	pa_tool_gone(m->pa, tool);
	tracebufs_tool_gone(m->tracebufs, tool);
	functions_tool_gone(m->functions, tool);
	calls_tool_gone(m->calls, tool);
	holds_tool_gone(m->holds, tool);
}

static void on_revoked(struct lm *m, const struct msg_revoked *r)
{
	if (revoked_apply(parent_ctx(m->parent), r))
		log_error("lm", "no memory for revoked certificates: their holders are served");
}

/* Clears the hooks at once: programs continue without cost, even if csrs are freed later. */
static void on_stop(struct lm *m, const char *reason)
{
	list_each (i, procs_all(m->procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		hooks_clear(p);
		if (p->seg)
			segview_reset(p->seg);
	}
	lm_stop(m, reason[0] ? reason : "stopped by a request");
}

static void on_msg(void *arg, const struct msg *msg)
{
	struct lm *m = arg;

	switch (msg->type) {
	case MSG_REQUEST:
		inbox_request(m->inbox, &msg->request);
		break;
	case MSG_CANCEL:
		inbox_cancel(m->inbox, msg->cancel.id);
		break;
	case MSG_ARM:
		/* out of memory: no error can be sent; the parent repeats it on the next link */
		csrs_arm(m->csrs, &msg->arm);
		break;
	case MSG_DISARM:
		csrs_disarm(m->csrs, msg->disarm.csr);
		break;
	case MSG_RELEASE:
		csrs_release(m->csrs, msg->release.csr, msg->release.seq);
		break;
	case MSG_TOOL_GONE:
		on_tool_gone(m, msg->tool_gone.tool);
		break;
	case MSG_LET_GO:
		holds_let_go(m->holds, "mainsm cannot be reached");
		break;
	case MSG_REVOKED:
		on_revoked(m, &msg->revoked);
		break;
	case MSG_STOP:
		on_stop(m, msg->stop.reason);
		break;
	case MSG_FLOW_LOAD:
		measurements_load(m->measurements, &msg->flow_load);
		break;
	case MSG_FLOW_READ:
		measurements_read(m->measurements, &msg->flow_read);
		break;
	case MSG_FLOW_END:
		measurements_end(m->measurements, msg->flow_end.measurement);
		break;
	case MSG_EVENTS_OPEN:
	case MSG_EVENTS_ACK:
	case MSG_EVENTS_END:
		keeps_take(m->recorder.keeps, msg);
		break;
	case MSG_ENROL_ACK:
		if (m->conf.on_enrol_ack)
			m->conf.on_enrol_ack(m->conf.arg, &msg->enrol_ack);
		break;
	default:
		break; /* the link sends nothing else */
	}
}

/* --- processes */

static void on_refused(void *arg, int32_t pid, const struct err *why)
{
	log_warn("lm", "process not watched pid=%d reason=\"%s\"", (int)pid, why->text);
}

static bool is_first_of_job(struct procs *procs, const struct proc *p)
{
	list_each (i, procs_all(procs)) {
		const struct proc *other = list_entry(i, struct proc, link);

		if (str_eq(other->own.job, p->own.job))
			return other == p;
	}
	return false;
}

/* Logs a line for each job, which may have many processes. */
static void log_adopted(struct procs *procs)
{
	list_each (i, procs_all(procs)) {
		const struct proc *p = list_entry(i, struct proc, link);
		size_t n = 0;

		if (!is_first_of_job(procs, p))
			continue;
		list_each (k, procs_all(procs))
			n += str_eq(list_entry(k, struct proc, link)->own.job, p->own.job);
		log_notice("lm", "took over %zu running processes job=\"%s\"", n, p->own.job);
	}
}

static void on_corrupt(void *arg, const struct proc *p, const char *why)
{
	log_warn("lm", "segment_corrupt pid=%d reason=\"%s\", the process is no longer measured",
		 (int)p->pid, why);
}

static void arm_linger(struct lm *m)
{
	if (procs_alive(m->procs) || !m->conf.linger)
		loop_timer_cancel(m->linger);
	else if (!loop_timer_is_armed(m->linger))
		loop_timer_arm(m->linger, m->conf.linger);
}

void lm_set_linger(struct lm *m, nsec_t linger)
{
	if (linger == m->conf.linger)
		return;
	m->conf.linger = linger;
	loop_timer_cancel(m->linger);
	arm_linger(m);
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct lm *m = arg;

	if (what == PROC_BORN)
		log_info("lm", "process watched pid=%d rank=%d", (int)p->pid, (int)p->own.rank);
	else if (what == PROC_ENDED)
		log_info("lm", "process ended pid=%d status=%d", (int)p->pid, p->exit_status);
	if (what == PROC_BORN || what == PROC_ENDED)
		arm_linger(m);
}

/* The lm stays while its parent has not acknowledged all events of a subscription. */
static void on_linger(void *arg)
{
	struct lm *m = arg;

	m->has_lingered = keeps_are_empty(m->recorder.keeps) && !m->end_reason;
	if (m->has_lingered)
		lm_stop(m, "no process to watch");
	else
		loop_timer_arm(m->linger, m->conf.linger);
}

static void on_drained(void *arg)
{
	struct lm *m = arg;

	m->conf.on_end(m->conf.arg, m->end_reason);
}

/* --- life */

static int open_helpers(struct lm *m)
{
	const struct lm_conf *c = &m->conf;

	m->trace = helper_new(&(struct helper_conf){ .loop = c->loop,
						     .program = c->tracer,
						     .sent_max = HELPER_SENT_MAX,
						     .answer_max = HELPER_ANSWER_MAX_NS,
						     .hangs = "it did not answer" });
	/* lm-look gets one request at a time, so that a hanging one blocks no other */
	m->look = !c->look ? NULL
			   : helper_new(&(struct helper_conf){ .loop = c->loop,
							       .program = c->look,
							       .sent_max = 1,
							       .answer_max = LOOK_MAX_NS,
							       .hangs = LOOK_HANGS });
	m->source = helper_new(&(struct helper_conf){ .loop = c->loop,
						      .program = c->tracer,
						      .sent_max = 1,
						      .answer_max = HELPER_ANSWER_MAX_NS,
						      .hangs = "a file with code cannot be read" });
	return m->trace && m->source && (m->look || !c->look) ? 0 : -ERR_NOMEM;
}

/* The order of listeners: measurements and counters before the events that use them. */
static int open_parts(struct lm *m, struct err *e)
{
	const struct lm_conf *c = &m->conf;
	struct procs_conf procs = { c->loop, c->host, &m->ticks, c->epoch };
	int rc = procs_open(&procs, &m->procs, e);

	if (rc)
		return rc;
	m->listener = (struct procs_listener){ .on_proc = on_proc, .arg = m };
	procs_listen(m->procs, &m->listener);
	m->rates = rates_new(c->loop, c->host);
	m->calls = calls_new(m->procs, &m->ticks);
	m->pa = pa_new(&(struct pa_conf){ c->loop, m->procs, &m->ticks, c->timebase });
	m->probes = probes_new(&(struct probes_conf){ m->procs, &m->ticks, c->timebase });
	m->tracebufs = tracebufs_new(m->procs);
	if (!m->rates || !m->calls || !m->pa || !m->probes || !m->tracebufs || open_helpers(m))
		return err_nomem(e);
	m->functions = functions_new(m->procs, m->trace);
	if (!m->functions)
		return err_nomem(e);
	return holds_open(&(struct holds_conf){ .loop = c->loop,
						.host = c->host,
						.procs = m->procs,
						.journal = c->journal,
						.disk = c->disk,
						.epoch = c->epoch,
						.guard = c->guard },
			  &m->holds, e);
}

static void on_plugins(void *arg)
{
	struct lm *m = arg;
	struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);

	plugins_write(m->plugins, &b);
	if (b.failed || announce_services(m->announce, &b))
		log_warn("lm", "no memory for the services of plug-ins, mainsm does not know them");
	buf_done(&b);
}

static struct plugins *open_plugins(struct lm *m)
{
	return plugins_new(&(struct plugins_conf){ .loop = m->conf.loop,
						   .program = m->conf.plugin,
						   .file = m->conf.plugin_file,
						   .disk = m->conf.disk,
						   .on_change = on_plugins,
						   .arg = m });
}

static int open_work(struct lm *m, struct err *e)
{
	const struct lm_conf *c = &m->conf;
	int rc;

	m->files = str_dup(c->files ? c->files : "");
	m->plugins = open_plugins(m);
	if (!m->files || !m->plugins || lm_audit_open(m, e))
		return err_nomem(e);
	rc = done_log_open(c->disk, c->done, &m->done, e);
	if (!rc)
		rc = recorder_open(&m->recorder,
				   &(struct keeps_conf){ .loop = c->loop,
							 .dir = c->spool,
							 .disk = c->disk,
							 .turns = c->turns,
							 .send = send_up,
							 .send_arg = m },
				   e);
	if (rc)
		return rc;
	lm_list_services(m);
	m->tasks = tasks_new(&(struct tasks_conf){ .loop = c->loop,
						   .timebase = c->timebase,
						   .procs = m->procs,
						   .holds = m->holds,
						   .audit = m->audit,
						   .family = m->services.family,
						   .nfamily = m->services.n,
						   .may_manipulate = c->may_manipulate });
	if (!m->tasks)
		return err_nomem(e);
	m->csrs = csrs_new(&(struct csrs_conf){ .loop = c->loop,
						.timebase = c->timebase,
						.ticks = &m->ticks,
						.procs = m->procs,
						.holds = m->holds,
						.pa = m->pa,
						.probes = m->probes,
						.audit = m->audit,
						.tasks = m->tasks,
						.source = m->services.source,
						.nsource = m->services.nsource,
						.may_manipulate = c->may_manipulate,
						.send = send_up,
						.corrupt = on_corrupt,
						.arg = m });
	m->measurements = measurements_new(&(struct measurements_conf){ .loop = c->loop,
									.host = c->host,
									.procs = m->procs,
									.timebase = c->timebase,
									.ticks = &m->ticks,
									.probes = m->probes,
									.plugins = m->plugins,
									.baselines = c->baselines,
									.disk = c->disk,
									.send = send_up,
									.arg = m });
	m->inbox = inbox_new(&(struct inbox_conf){ m->tasks, m->done, send_frames, m });
	m->announce =
		announce_new(&(struct announce_conf){ c->loop, m->procs, c->timebase, send_up, m });
	if (!m->csrs || !m->measurements || !m->inbox || !m->announce)
		return err_nomem(e);
	pa_on_delete(m->pa, csrs_refresh, m->csrs);
	holds_on_change(m->holds, csrs_stopped, m->csrs);
	recorder_load(&m->recorder);
	plugins_load(m->plugins, c->plugins);
	return 0;
}

static int open_registration(struct lm *m, struct err *e)
{
	const struct lm_conf *c = &m->conf;
	struct registration_conf in = { .loop = c->loop,
					.host = c->host,
					.procs = m->procs,
					.socket = c->socket,
					.listener = c->listener,
					.memfd = c->memfd,
					.uid = c->uid,
					.refused = on_refused,
					.arg = m };
	int rc;

	m->linger = loop_timer_new(c->loop, on_linger, m);
	m->drain = loop_timer_new(c->loop, on_drained, m);
	if (!m->linger || !m->drain)
		return err_nomem(e);
	rc = registration_open(&in, &m->registration, e);
	if (rc)
		return rc;
	/* Listen before scanning /proc: a process starting now may be found twice, never missed. */
	if (registration_adopt(m->registration))
		log_adopted(m->procs);
	arm_linger(m);
	return 0;
}

int lm_open(const struct lm_conf *c, struct lm **out, struct err *e)
{
	struct lm *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_nomem(e);
	m->conf = *c;
	m->opened = loop_now(c->loop);
	str_copy(m->host_name, sizeof(m->host_name), c->host_name);
	m->recorder.host_name = m->host_name;
	list_init(&m->listener.link);
	tickbase_init(&m->ticks);
	rc = open_parts(m, e);
	if (!rc)
		rc = open_work(m, e);
	if (!rc)
		rc = open_registration(m, e);
	if (rc) {
		lm_free(m);
		return rc;
	}
	*out = m;
	return 0;
}

void lm_free(struct lm *m)
{
	if (!m)
		return;
	parent_free(m->parent);
	registration_close(m->registration);
	announce_free(m->announce);
	inbox_free(m->inbox);
	done_log_close(m->done);
	measurements_free(m->measurements);
	csrs_free(m->csrs);
	recorder_close(&m->recorder);
	tasks_free(m->tasks);
	plugins_free(m->plugins);
	audit_close(m->audit);
	functions_free(m->functions);
	helper_free(m->trace);
	helper_free(m->look);
	helper_free(m->source);
	holds_free(m->holds);
	tracebufs_free(m->tracebufs);
	probes_free(m->probes);
	pa_free(m->pa);
	calls_free(m->calls);
	rates_free(m->rates);
	procs_unlisten(&m->listener);
	procs_free(m->procs);
	loop_timer_free(m->linger);
	loop_timer_free(m->drain);
	free(m->end_reason);
	free(m->files);
	free(m);
}

int lm_register(struct lm *m, int fd, int32_t pid)
{
	return registration_segment(m->registration, fd, pid, false);
}

int lm_connect(struct lm *m, struct net_ctx *ctx, const struct connstr *conn)
{
	const struct identity *self = net_ctx_self(ctx);
	struct parent_conf c = { .loop = m->conf.loop,
				 .rng = m->conf.rng,
				 .timebase = m->conf.timebase,
				 .ctx = ctx,
				 .conn = conn,
				 .host = self ? self->host : m->host_name,
				 .epoch = m->conf.epoch,
				 .software = "lm " OMIG_VERSION,
				 .on_up = on_up,
				 .on_down = on_down,
				 .on_msg = on_msg,
				 .on_writable = on_writable,
				 .on_trouble = on_trouble,
				 .arg = m };

	m->parent = parent_new(&c);
	return m->parent ? 0 : -ERR_NOMEM;
}

int lm_ask_top(struct lm *m, const struct msg *msg)
{
	return m->parent ? parent_ask_mainsm(m->parent, msg) : -ERR_CLOSED;
}

void lm_stop(struct lm *m, const char *reason)
{
	if (m->end_reason)
		return;
	m->end_reason = str_dup(reason);
	log_notice("lm", "ending reason=\"%s\"", reason);
	if (!procs_alive(m->procs))
		keeps_say_end(m->recorder.keeps);
	announce_leave(m->announce);
	if (m->parent)
		parent_close(m->parent, reason);
	loop_timer_arm(m->drain, LM_DRAIN_NS);
}
