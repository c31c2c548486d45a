/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/program.h"

#include "common/authority/state.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "mainsm/hosts.h"
#include "mainsm/mainsm.h"
#include "mainsm/settings.h"
#include "mainsm/start/starter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONN_FILE "mainsm.conn"
#define LOCK_FILE "mainsm.lock"
#define DRAIN_NS (300 * NSEC_PER_MSEC) /* time for BYE and the last replies */
#define RENEW_CHECK_NS (600 * NSEC_PER_SEC) /* shorter for short lifetimes */

struct program {
	struct daemon *daemon;
	struct state state;
	struct net_ctx *ctx;
	struct starter *starter;
	struct mainsm *mainsm;
	struct connstr conn; /* with the standing token */
	char listen[NET_ADDR_BYTES];
	struct loop_timer *renew, *drain;
	bool must_reload; /* our certificate is newer than the one shown to peers */
};

static nsec_t wall_now(void *arg)
{
	return clock_wall();
}

static const struct settings *settings_of(const struct program *p)
{
	return daemon_conf(p->daemon);
}

/* --- callbacks of the core */

static int connection(void *arg, const struct token_text *token, struct buf *out)
{
	struct program *p = arg;
	struct connstr c = p->conn;
	int rc;

	str_copy(c.token_id, sizeof(c.token_id), token->id);
	str_copy(c.secret, sizeof(c.secret), token->secret);
	rc = connstr_print(&c, true, out);
	str_wipe(&c, sizeof(c));
	return rc;
}

static int start_sm(void *arg, const struct site *site, const char *launcher,
		    const struct token_text *token, struct err *e)
{
	struct program *p = arg;
	struct buf line = BUF_INIT(CONNSTR_MAX_BYTES);
	int rc = connection(p, token, &line);

	rc = rc ? err_set(e, (enum err_code)(-rc), "the connection string is too long")
		: starter_start(p->starter, site, launcher, buf_str(&line), e);
	if (line.p)
		str_wipe(line.p, line.n);
	buf_done(&line);
	return rc;
}

static void on_launcher_exit(void *arg, const char *site, const char *how)
{
	struct program *p = arg;

	if (p->mainsm)
		mainsm_start_failed(p->mainsm, site, how);
}

static void health(void *arg, struct omis_writer *w)
{
	struct program *p = arg;
	struct identity own;
	bool is_good = !pki_creds_check(&p->state.creds, NULL, clock_wall(), &own, NULL);

	daemon_write_health(p->daemon, is_good ? &own : NULL, w);
}

static void on_end(void *arg, const char *reason)
{
	struct program *p = arg;

	daemon_stop(p->daemon, reason);
}

/* --- the standing token: one for all enrolments of this user, renewed at half of its life */

static int renew_token(struct program *p, struct err *e)
{
	nsec_t now = clock_wall();
	struct token_grant g = { .roles = ROLE_BIT(ROLE_SM) | ROLE_BIT(ROLE_LM) | ROLES_SERVER |
					  ROLES_TOOL,
				 .wall_until = now + settings_of(p)->token_lifetime,
				 .has_uid = true,
				 .uid = getuid() };

	state_owner(g.owner);
	return state_keep_token(mainsm_tokens(p->mainsm), &g, now, &p->conn, e);
}

/* --- renewal of that token and of our own certificate */

static void renew_certificate(struct program *p)
{
	struct err e = { 0 };
	int got = state_renew(&p->state, clock_wall(), settings_of(p)->cert_lifetime, &e);

	p->must_reload |= got > 0;
	if (!got && !p->must_reload)
		return;
	if (got >= 0)
		got = net_ctx_reload(p->ctx, &p->state.creds, &e);
	if (got) {
		log_warn("mainsm", "the certificate could not be renewed, trying again: %s",
			 e.text);
		return;
	}
	p->must_reload = false;
	log_notice("mainsm", "certificate renewed");
}

static nsec_t renew_period(const struct program *p)
{
	const struct settings *s = settings_of(p);
	nsec_t life = s->token_lifetime < s->cert_lifetime ? s->token_lifetime : s->cert_lifetime;

	return life / 6 < RENEW_CHECK_NS ? life / 6 : RENEW_CHECK_NS;
}

static void on_renew(void *arg)
{
	struct program *p = arg;
	struct err e = { 0 };

	if (renew_token(p, &e) || state_save_conn(&p->state, CONN_FILE, &p->conn, &e))
		log_warn("mainsm", "the connection string could not be renewed, trying again: %s",
			 e.text);
	renew_certificate(p);
	loop_timer_arm(p->renew, renew_period(p));
}

/* --- starting */

static int lock_state(struct program *p, struct err *e)
{
	char path[FILE_PATH_BYTES], pid[32] = "";
	int rc = state_path(&p->state, LOCK_FILE, path, e);
	long owner;

	if (!rc)
		rc = daemon_lock(p->daemon, path, e);
	if (rc != -ERR_EXISTS)
		return rc;
	owner = state_lock_owner(&p->state, LOCK_FILE);
	if (owner)
		snprintf(pid, sizeof(pid), "pid %ld, ", owner);
	return err_set(
		e, ERR_EXISTS,
		"one runs for you already: %sconnection string in %s/mainsm.conn; to end it: "
		"omig stop",
		pid, p->state.dir);
}

static int open_net(struct program *p, struct err *e)
{
	const struct net_conf conf = { .creds = &p->state.creds };
	int rc = state_open(&p->state, clock_wall(), settings_of(p)->cert_lifetime, e);

	return rc ? rc : net_ctx_open(daemon_loop(p->daemon), &conf, &p->ctx, e);
}

static int sm_path(const struct program *p, char *out, struct err *e)
{
	const char *given = settings_of(p)->sm_command;
	ssize_t n;

	if (given[0])
		return str_copy(out, FILE_PATH_BYTES, given)
			       ? 0
			       : err_set(e, ERR_LIMIT, "sm-command is too long");
	n = readlink("/proc/self/exe", out, FILE_PATH_BYTES - 4);
	out[n > 0 ? n : 0] = 0;
	if (!strrchr(out, '/'))
		return str_copy(out, FILE_PATH_BYTES, "sm") ? 0 : -ERR_LIMIT;
	memcpy(strrchr(out, '/') + 1, "sm", 3);
	return 0;
}

static int make_starter(struct program *p, struct err *e)
{
	char sm[FILE_PATH_BYTES];
	int rc = sm_path(p, sm, e);
	const struct starter_conf conf = {
		.loop = daemon_loop(p->daemon),
		.sm = sm,
		.listen = p->listen,
		.listen_elsewhere = net_is_numeric(settings_of(p)->listen) ? p->listen : "auto",
		.state_dir = daemon_state_dir(p->daemon),
		.on_exit = on_launcher_exit,
		.arg = p,
	};

	if (rc)
		return rc;
	p->starter = starter_new(&conf);
	return p->starter ? 0 : err_nomem(e);
}

static void core_conf(struct program *p, const struct settings *s, struct mainsm_conf *c)
{
	*c = (struct mainsm_conf){
		.loop = daemon_loop(p->daemon),
		.rng = daemon_rng(p->daemon),
		.timebase = daemon_timebase(p->daemon),
		.ctx = p->ctx,
		.ca = p->state.ca,
		.epoch = daemon_epoch(p->daemon),
		.state_dir = p->state.dir,
		.listen = p->listen,
		.port = (uint16_t)s->port,
		.launcher = s->launcher,
		.cert_lifetime = s->cert_lifetime,
		.linger = s->linger,
		.history_keep = s->history,
		.history_bytes = (uint64_t)s->history_size,
		.wall_now = wall_now,
		.start_sm = start_sm,
		.connection = connection,
		.health = health,
		.on_end = on_end,
		.arg = p,
	};
}

/* Opens the port of the last start if it is free, so that the old connection string stays valid. */
static int open_core(struct program *p, struct err *e)
{
	const struct settings *s = settings_of(p);
	struct site_conf *site = NULL;
	struct mainsm_conf conf;
	char *text = NULL;
	int rc;

	core_conf(p, s, &conf);
	rc = mainsm_settings_sites(s, &site, &conf.nsite, &text, e);
	if (rc)
		return rc;
	conf.site = site;
	if (!conf.port)
		conf.port = state_last_port(&p->state);
	rc = mainsm_open(&conf, &p->mainsm, e);
	if (rc == -ERR_SYS && !s->port && conf.port) {
		log_warn("mainsm", "port %u of the last start is taken, another one is used",
			 conf.port);
		conf.port = 0;
		rc = mainsm_open(&conf, &p->mainsm, e);
	}
	free(site);
	free(text);
	return rc;
}

static int publish(struct program *p, struct err *e)
{
	const struct settings *s = settings_of(p);
	struct buf line = BUF_INIT(CONNSTR_MAX_BYTES);
	int rc;

	/* A token of the last start remains in use: strings in scripts and jobs stay valid. */
	if (state_read_conn(&p->state, CONN_FILE, &p->conn, NULL))
		p->conn = (struct connstr){ 0 };
	p->conn.port = mainsm_port(p->mainsm);
	str_copy(p->conn.pin, sizeof(p->conn.pin), pki_ca_pin(p->state.ca));
	rc = hosts_to_advertise(s->advertise, p->listen, &p->conn, e);
	if (!rc)
		rc = renew_token(p, e);
	if (!rc)
		rc = state_save_port(&p->state, p->conn.port, e);
	if (!rc)
		rc = state_save_conn(&p->state, CONN_FILE, &p->conn, e);
	if (!rc)
		rc = connstr_print(&p->conn, true, &line);
	if (!rc)
		printf("%s\n", buf_str(&line));
	if (line.p)
		str_wipe(line.p, line.n);
	buf_done(&line);
	return rc;
}

static void on_drained(void *arg)
{
	struct program *p = arg;

	daemon_end(p->daemon, DAEMON_OK);
}

static int make_timers(struct program *p, struct err *e)
{
	p->renew = loop_timer_new(daemon_loop(p->daemon), on_renew, p);
	p->drain = loop_timer_new(daemon_loop(p->daemon), on_drained, p);
	if (!p->renew || !p->drain)
		return err_nomem(e);
	loop_timer_arm(p->renew, renew_period(p));
	return 0;
}

static int start(struct daemon *d, int *exit_code, struct err *e)
{
	struct program *p = daemon_user(d);
	int rc;

	p->daemon = d;
	timebase_init_root(daemon_timebase(d), loop_now(daemon_loop(d)), clock_wall());
	rc = state_init(&p->state, daemon_state_dir(d), "mainsm", e);
	if (!rc)
		rc = net_own_address(settings_of(p)->listen, p->listen, e);
	if (!rc)
		rc = lock_state(p, e);
	if (!rc)
		rc = open_net(p, e);
	if (!rc)
		rc = make_starter(p, e);
	if (!rc)
		rc = open_core(p, e);
	if (!rc)
		rc = make_timers(p, e);
	if (!rc)
		rc = publish(p, e);
	if (!rc)
		daemon_ready(d);
	return rc;
}

static int reload(struct daemon *d, const void *values, struct err *e)
{
	struct program *p = daemon_user(d);
	const struct settings *s = values;
	struct site_conf *site = NULL;
	struct pki_creds creds = { 0 };
	struct mainsm_conf conf;
	char *text = NULL;
	int rc;

	core_conf(p, s, &conf);
	rc = mainsm_settings_sites(s, &site, &conf.nsite, &text, e);
	conf.site = site;
	if (!rc)
		rc = state_read_own(&p->state, clock_wall(), &creds, e);
	if (!rc)
		rc = mainsm_reload(p->mainsm, &conf, &creds, e);
	if (!rc)
		state_set_own(&p->state, &creds);
	pki_creds_done(&creds);
	free(site);
	free(text);
	return rc;
}

static void stop(struct daemon *d, const char *reason)
{
	struct program *p = daemon_user(d);

	mainsm_close(p->mainsm, reason);
	loop_timer_arm(p->drain, DRAIN_NS);
}

static void status(struct daemon *d, struct buf *out)
{
	struct program *p = daemon_user(d);

	mainsm_dump(p->mainsm, out);
}

static void done(struct daemon *d)
{
	struct program *p = daemon_user(d);

	loop_timer_free(p->renew);
	loop_timer_free(p->drain);
	mainsm_free(p->mainsm);
	p->mainsm = NULL;
	starter_free(p->starter);
	net_ctx_free(p->ctx);
	state_done(&p->state);
}

/* A running mainsm uses the port itself: a check before its reload must accept that. */
static int check_port(struct daemon *d, const struct settings *s, struct err *e)
{
	char lock[FILE_PATH_BYTES];
	int rc = net_check_port(s->listen, (uint16_t)s->port, e);

	if (rc == -ERR_EXISTS && snprintf(lock, sizeof(lock), "%s/mainsm/" LOCK_FILE,
					  daemon_state_dir(d)) < (int)sizeof(lock))
		return daemon_runs(d, lock) ? 0 : rc;
	return rc;
}

static int check_start(struct daemon *d, struct err *e)
{
	const struct settings *s = daemon_conf(d);
	int rc = check_port(d, s, e);

	if (!rc && s->sm_command[0] && access(s->sm_command, X_OK))
		rc = err_sys(e, "sm-command: %s", s->sm_command);
	return rc;
}

const struct daemon_spec mainsm_program_spec = {
	.program = "mainsm",
	.summary = "the top daemon of the monitor, one for each user",
	.details =
		"Prints one line, the connection string of its user, when it is ready, and goes to the background. The omig\n"
		"command finds it by itself, and gives programs one that is for their hosts alone (omig run, omig env).\n"
		"End it with: omig stop",
	.bytes = sizeof(struct program),
	.conf = &mainsm_settings_schema,
	.background = true,
	.check = mainsm_settings_check,
	.check_start = check_start,
	.start = start,
	.reload = reload,
	.stop = stop,
	.status = status,
	.done = done,
};
