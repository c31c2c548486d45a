/* SPDX-License-Identifier: Apache-2.0 */
/* The wiring: makes all parts, each with its dependencies, and frees them in the reverse order. */
#include "mainsm/registry/registry.h"
#include "mainsm/mainsm_internal.h"

#include "common/audit/audit.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "mainsm/services.h"

#include <inttypes.h>
#include <stdlib.h>

#define HOUSEKEEPING_NS (250 * NSEC_PER_MSEC)
/* time for the reply to omig_shutdown() before the link is closed */
#define LAST_WORDS_NS (200 * NSEC_PER_MSEC)

/* --- callbacks of the parts */

static int execute_here(void *arg, struct run *run, const struct plan_here *here,
			struct reply *into)
{
	struct mainsm *m = arg;

	return services_execute(m->services, run, here, into);
}

/*
 * True if the engines follow changes of the object. A process represents its threads, unless a
 * tool uses only some of them.
 */
static bool is_followed(const struct mainsm *m, const struct object *o)
{
	if (o->kind != OBJECT_THREAD)
		return true;
	list_each (i, &m->sessions)
		if (scope_hides_any(list_entry(i, struct session, in_sessions)->scope))
			return true;
	return false;
}

static void on_change(void *arg, const struct object *o, enum directory_change what)
{
	struct mainsm *m = arg;

	if (what == DIRECTORY_WENT)
		list_each (i, &m->sessions)
			scope_forget(list_entry(i, struct session, in_sessions)->scope, o);
	if (what == DIRECTORY_CAME && o->kind == OBJECT_PROC)
		services_proc_came(m->services);
	if (what == DIRECTORY_CAME && o->kind == OBJECT_PROC)
		subscriptions_proc_came(m->subscriptions, o);
	if (what == DIRECTORY_WENT || is_followed(m, o))
		tool_csrs_follow_soon(m->csrs);
	if (o->kind != OBJECT_THREAD)
		measures_follow_soon(m->measures);
	if (o->kind == OBJECT_PROC)
		history_follow(m->history);
}

static void on_disarmed(void *arg, const char *csr)
{
	struct mainsm *m = arg;

	missed_csr(&m->missed, csr);
}

static void on_session_gone(void *arg, uint32_t number)
{
	struct mainsm *m = arg;
	const struct msg gone = { .type = MSG_TOOL_GONE, .tool_gone = { .tool = number } };

	branches_send_all(m->branches, &gone);
	missed_tool(&m->missed, number);
}

static nsec_t wall_now(void *arg)
{
	struct mainsm *m = arg;

	return m->conf.wall_now(m->conf.arg);
}

static int choose_site(void *arg, const char *claim, const char *host, const char **out,
		       struct err *e)
{
	struct mainsm *m = arg;

	return sites_choose(m->sites, claim, host, out, e);
}

static int connection(void *arg, const struct token_text *token, struct buf *out)
{
	struct mainsm *m = arg;

	return m->conf.connection ? m->conf.connection(m->conf.arg, token, out) : -ERR_UNSUPPORTED;
}

static void revoke_one(void *arg, const uint8_t serial[SERIAL_BYTES])
{
	struct mainsm *m = arg;

	if (net_ctx_revoke(m->conf.ctx, serial))
		log_error("certs", "no memory to revoke a certificate");
}

static void apply_revoked(void *arg)
{
	struct mainsm *m = arg;

	certs_each_revoked(m->certs, revoke_one, m);
	mainsm_send_revoked(m, NULL);
	net_ctx_check(m->conf.ctx);
}

/* Deferred, because it may close the link of the caller. */
static void on_revoked(void *arg)
{
	struct mainsm *m = arg;

	loop_job_post(m->conf.loop, &m->revoking, apply_revoked, m);
}

static void end_all(void *arg)
{
	struct mainsm *m = arg;
	struct msg stop = { .type = MSG_STOP, .stop = { .reason = "a tool stops all daemons" } };

	branches_send_all(m->branches, &stop);
	m->conf.on_end(m->conf.arg, "a tool stops all daemons");
}

static void on_shutdown(void *arg)
{
	struct mainsm *m = arg;

	if (!loop_timer_is_armed(m->ending))
		loop_timer_arm(m->ending, LAST_WORDS_NS);
}

static void write_listener(struct mainsm *m, struct omis_writer *w)
{
	struct net_listener_stats s;

	if (!m->listener)
		return;
	net_listener_get_stats(m->listener, &s);
	omis_write_pair(w, "accepted", (int64_t)s.accepted);
	omis_write_pair(w, "refused", (int64_t)s.refused);
	omis_write_pair(w, "penalised", (int64_t)s.penalised);
	omis_write_pair(w, "fd_exhausted", (int64_t)s.fd_exhausted);
}

static void write_queues(struct mainsm *m, struct omis_writer *w)
{
	uint64_t queued = 0, dropped = 0;

	list_each (i, &m->peers) {
		const struct link *l = list_entry(i, struct peer, in_peers)->link;

		queued += link_queued(l);
		dropped += link_dropped(l);
	}
	omis_write_pair(w, "queued_bytes", (int64_t)queued);
	omis_write_pair(w, "dropped", (int64_t)dropped);
}

static void write_measures(struct mainsm *m, struct omis_writer *w)
{
	struct measures_stats s;

	measures_stats(m->measures, &s);
	omis_write_pair(w, "dfgs", (int64_t)s.defined);
	omis_write_pair(w, "dfgs_running", (int64_t)s.running);
	omis_write_pair(w, "dfg_plans", (int64_t)s.plans);
	omis_write_pair(w, "dfg_routes", (int64_t)s.routes);
	omis_write_pair(w, "dfg_reads", (int64_t)s.reads);
	omis_write_pair(w, "dfg_reads_late", (int64_t)s.late_reads);
	omis_write_pair(w, "dfg_frames", (int64_t)s.frames);
	omis_write_pair(w, "dfg_bytes", (int64_t)s.bytes);
	omis_write_pair(w, "dfg_strays", (int64_t)s.strays);
}

static void write_counts(struct mainsm *m, struct omis_writer *w)
{
	struct tool_csrs_stats csr;

	tool_csrs_stats(m->csrs, &csr);
	omis_write_pair(w, "tools", (int64_t)m->nsession);
	omis_write_pair(w, "branches", (int64_t)branches_count(m->branches));
	omis_write_pair(w, "sites", (int64_t)directory_count(m->directory, OBJECT_SITE));
	omis_write_pair(w, "nodes", (int64_t)directory_count(m->directory, OBJECT_NODE));
	omis_write_pair(w, "processes", (int64_t)directory_count(m->directory, OBJECT_PROC));
	omis_write_pair(w, "threads", (int64_t)directory_count(m->directory, OBJECT_THREAD));
	omis_write_pair(w, "requests", (int64_t)executor_count(m->executor));
	omis_write_pair(w, "requests_waiting", (int64_t)locks_waiting(m->locks));
	omis_write_pair(w, "stray_replies", (int64_t)executor_strays(m->executor));
	omis_write_pair(w, "forged", (int64_t)m->forged);
	omis_write_pair(w, "csrs", (int64_t)csr.defined);
	omis_write_pair(w, "csrs_enabled", (int64_t)csr.enabled);
	omis_write_pair(w, "subscriptions", (int64_t)subscriptions_count(m->subscriptions));
	omis_write_pair(w, "csrs_fired", (int64_t)csr.fired);
	omis_write_pair(w, "csrs_suspended", (int64_t)csr.suspended);
	omis_write_pair(w, "stray_events", (int64_t)csr.strays);
	write_measures(m, w);
	history_status(m->history, w);
	omis_write_pair(w, "metric_texts", (int64_t)registry_count(m->registry));
	omis_write_pair(w, "certificates", (int64_t)certs_count(m->certs));
	omis_write_pair(w, "tokens", (int64_t)tokens_count(m->tokens, wall_now(m)));
}

void mainsm_status(struct mainsm *m, struct buf *out)
{
	struct omis_writer w = OMIS_WRITER(out);

	omis_write_string(&w, "mainsm");
	omis_write_string(&w, OMIG_VERSION);
	omis_write_int(&w, loop_now(m->conf.loop) - m->started);
	write_counts(m, &w);
	write_queues(m, &w);
	write_listener(m, &w);
	if (m->conf.health)
		m->conf.health(m->conf.arg, &w);
}

static void status_values(void *arg, struct buf *out)
{
	mainsm_status(arg, out);
}

void mainsm_dump(struct mainsm *m, struct buf *out)
{
	list_each (i, &m->peers) {
		const struct peer *p = list_entry(i, struct peer, in_peers);
		struct link_stats s;

		link_stats(p->link, &s);
		buf_printf(out, "peer=\"%s\" what=%s queued=%zu rtt_us=%" PRId64 "\n", s.peer,
			   p->branch	  ? p->branch->name
			   : p->session	  ? "tool"
			   : p->is_server ? "server"
					  : "passing",
			   s.queued, s.rtt / NSEC_PER_USEC);
	}
	buf_puts(out, "status=");
	mainsm_status(m, out);
	buf_putc(out, '\n');
}

/* --- work by timers */

static void save_numbers(struct mainsm *m)
{
	struct err e = { 0 };
	bool did_fail = m->numbers_fail;

	if (!numbers_is_dirty(m->numbers))
		return;
	m->numbers_fail = numbers_flush(m->numbers, &e) != 0;
	if (m->numbers_fail && !did_fail)
		log_error("state", "numbers of hosts are not saved, a restart may give others: %s",
			  e.text);
	if (!m->numbers_fail && did_fail)
		log_notice("state", "numbers of hosts are saved again");
}

/*
 * Saves state at short intervals: a crash loses the changes of that time, which are then collected
 * again.
 */
static void on_housekeeping(void *arg)
{
	struct mainsm *m = arg;
	nsec_t now = loop_now(m->conf.loop);

	save_numbers(m);
	directory_forget(m->directory, now, MAINSM_FORGET_NODE_NS);
	mainsm_lapse(m);
	if (m->conf.linger && m->npeer == 0 && now - m->lonely_since >= m->conf.linger)
		m->conf.on_end(m->conf.arg, "no peer was connected for long enough");
	else
		loop_timer_arm(m->housekeeping, HOUSEKEEPING_NS);
}

/* --- making and ending */

static int open_file(struct mainsm *m, const char *name, char *path, const char **out,
		     struct err *e)
{
	*out = m->conf.state_dir ? path : NULL;
	return m->conf.state_dir ? file_join(path, FILE_PATH_BYTES, m->conf.state_dir, name, e) : 0;
}

static const struct added_services *added(void *arg, unsigned *version)
{
	struct mainsm *m = arg;
	const struct added_services *all = directory_added(m->directory);

	*version = directory_added_version(m->directory);
	return all;
}

static int open_state(struct mainsm *m, struct err *e)
{
	char path[FILE_PATH_BYTES];
	const char *file;
	int rc = numbers_open(m->conf.disk, m->conf.state_dir, &m->numbers, e);

	if (!rc)
		rc = open_file(m, "issued", path, &file, e);
	if (!rc)
		rc = certs_open(m->conf.disk, file, &m->certs, e);
	if (!rc && certs_damaged(m->certs))
		log_warn("mainsm", "%zu bytes of %s are damaged and left out: omig cert list",
			 certs_damaged(m->certs), file);
	if (!rc)
		rc = mainsm_audit_open(m, e);
	if (!rc)
		rc = open_file(m, "tokens", path, &file, e);
	if (!rc)
		rc = tokens_open(m->conf.disk, file, &m->tokens, e);
	if (!rc)
		rc = registry_open(&(struct registry_conf){ .disk = m->conf.disk,
							    .dir = m->conf.state_dir,
							    .wall_now = wall_now,
							    .added = added,
							    .arg = m },
				   &m->registry, e);
	return rc;
}

int mainsm_reload(struct mainsm *m, const struct mainsm_conf *conf, const struct pki_creds *creds,
		  struct err *e)
{
	struct sites_change *sites = NULL;
	int rc = sites_prepare(m->sites, conf->site, conf->nsite, &sites, e);

	if (!rc && creds)
		rc = net_ctx_reload(m->conf.ctx, creds, e);
	if (rc) {
		sites_change_free(sites);
		return rc;
	}
	sites_commit(&sites);
	m->conf.linger = conf->linger;
	if (conf->history_bytes)
		history_limit(m->history, conf->history_bytes, conf->history_keep);
	return 0;
}

static int make_engines(struct mainsm *m, struct err *e)
{
	const struct executor_conf x = {
		.loop = m->conf.loop,
		.branches = m->branches,
		.here = execute_here,
		.arg = m,
	};
	struct tool_csrs_conf c = { m->conf.loop, m->conf.timebase, NULL,	 m->branches,
				    m->directory, m->numbers,	    on_disarmed, m };
	struct measures_conf f = { m->conf.loop, m->conf.timebase, m->branches, m->directory,
				   NULL,	 m->numbers,	   m->registry };

	m->executor = executor_new(&x);
	m->locks = m->executor ? locks_new(m->conf.loop, m->executor) : NULL;
	c.locks = m->locks;
	m->csrs = m->locks ? tool_csrs_new(&c) : NULL;
	f.csrs = m->csrs;
	m->measures = m->csrs ? measures_new(&f) : NULL;
	m->subscriptions = m->csrs ? subscriptions_new(&(struct subscriptions_conf){
					     m->conf.loop, m->branches, m->directory, m->csrs,
					     m->numbers, &m->sessions, on_session_gone, m })
				   : NULL;
	return m->measures && m->subscriptions ? 0 : err_nomem(e);
}

static int make_history(struct mainsm *m, struct err *e)
{
	struct history_conf c = { .store = { .loop = m->conf.loop,
					     .max_bytes = m->conf.history_bytes,
					     .keep = m->conf.history_keep,
					     .stream = m->conf.epoch,
					     .wall_now = wall_now,
					     .arg = m,
					     .disk = m->conf.disk,
					     .turns = m->conf.history_turns },
				  .directory = m->directory,
				  .branches = m->branches,
				  .executor = m->executor,
				  .numbers = m->numbers,
				  .sessions = &m->sessions };
	char path[FILE_PATH_BYTES];
	int rc;

	if (!m->conf.history_bytes || !m->conf.state_dir)
		return 0;
	rc = open_file(m, "history", path, &c.store.path, e);
	return rc ? rc : history_open(&c, &m->history, e);
}

static int make_services(struct mainsm *m, struct err *e)
{
	const struct services_conf s = {
		.families = mainsm_services,
		.directory = m->directory,
		.sites = m->sites,
		.branches = m->branches,
		.csrs = m->csrs,
		.measures = m->measures,
		.subscriptions = m->subscriptions,
		.registry = m->registry,
		.executor = m->executor,
		.history = m->history,
		.numbers = m->numbers,
		.certs = m->certs,
		.tokens = m->tokens,
		.audit = m->audit,
		.loop = m->conf.loop,
		.wall_now = wall_now,
		.status = status_values,
		.connection = connection,
		.revoked = on_revoked,
		.shutdown = on_shutdown,
		.arg = m,
	};
	const struct enrol_service_conf n = { .loop = m->conf.loop,
					      .ca = m->conf.ca,
					      .tokens = m->tokens,
					      .certs = m->certs,
					      .cert_lifetime = m->conf.cert_lifetime,
					      .wall_now = wall_now,
					      .choose_site = choose_site,
					      .arg = m };

	m->services = services_new(&s);
	if (m->conf.ca)
		m->enrol = enrol_service_new(&n);
	return m->services && (m->enrol || !m->conf.ca) ? 0 : err_nomem(e);
}

static int make_parts(struct mainsm *m, struct err *e)
{
	m->directory = directory_new();
	m->branches = branches_new(MAINSM_BRANCHES_MAX);
	m->sites = sites_new(m->conf.launcher ? m->conf.launcher : "");
	m->housekeeping = loop_timer_new(m->conf.loop, on_housekeeping, m);
	m->ending = loop_timer_new(m->conf.loop, end_all, m);
	if (!m->directory || !m->branches || !m->sites || !m->housekeeping || !m->ending)
		return err_nomem(e);
	directory_set_listener(m->directory, on_change, m);
	branches_set_owner(m->branches, tool_view_branch_owns, m->directory);
	return mainsm_reload(m, &m->conf, NULL, e);
}

static int listen_for_all(struct mainsm *m, struct err *e)
{
	const struct net_listen_conf l = {
		.addr = m->conf.listen,
		.port = m->conf.port,
		.roles = ROLE_BIT(ROLE_SM) | ROLE_BIT(ROLE_LM) | ROLES_SERVER | ROLES_TOOL,
		.enrol_type = m->conf.ca ? MSG_ENROL : 0,
	};
	const struct net_accept a = { greet_accept, greet_refused, m };

	return net_listen(m->conf.ctx, &l, &a, &m->listener, e);
}

int mainsm_open(const struct mainsm_conf *conf, struct mainsm **out, struct err *e)
{
	struct mainsm *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_nomem(e);
	m->conf = *conf;
	if (!m->conf.cert_lifetime)
		m->conf.cert_lifetime = MAINSM_CERT_LIFETIME_NS;
	list_init(&m->peers);
	list_init(&m->sessions);
	smap_init(&m->shares);
	m->started = m->lonely_since = loop_now(conf->loop);
	rc = open_state(m, e);
	if (!rc)
		rc = make_parts(m, e);
	if (!rc)
		rc = make_engines(m, e);
	if (!rc)
		rc = make_history(m, e);
	if (!rc)
		rc = make_services(m, e);
	if (!rc)
		rc = listen_for_all(m, e);
	if (rc) {
		mainsm_free(m);
		return rc;
	}
	certs_each_revoked(m->certs, revoke_one, m);
	loop_timer_arm(m->housekeeping, HOUSEKEEPING_NS);
	*out = m;
	return 0;
}

void mainsm_close(struct mainsm *m, const char *reason)
{
	m->is_closing = true;
	net_listener_close(m->listener);
	m->listener = NULL;
	for (struct list *i = list_first(&m->peers); i; i = list_first(&m->peers))
		peer_end(list_entry(i, struct peer, in_peers), reason);
	save_numbers(m);
}

void mainsm_free(struct mainsm *m)
{
	if (!m)
		return;
	if (m->listener)
		mainsm_close(m, "going down");
	loop_job_cancel(&m->revoking);
	loop_timer_free(m->housekeeping);
	loop_timer_free(m->ending);
	enrol_service_free(m->enrol);
	services_free(m->services);
	history_close(m->history);
	measures_free(m->measures);
	subscriptions_free(m->subscriptions);
	tool_csrs_free(m->csrs);
	locks_free(m->locks);
	executor_free(m->executor);
	branches_free(m->branches);
	if (m->directory)
		directory_set_listener(m->directory, NULL, NULL);
	directory_free(m->directory);
	sites_free(m->sites);
	registry_free(m->registry);
	tokens_free(m->tokens);
	certs_free(m->certs);
	audit_close(m->audit);
	numbers_free(m->numbers);
	smap_done(&m->shares);
	free(m);
}

uint16_t mainsm_port(const struct mainsm *m)
{
	return net_listener_port(m->listener);
}

struct tokens *mainsm_tokens(struct mainsm *m)
{
	return m->tokens;
}
