/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/program.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/loop/loop.h"
#include "common/member/join.h"
#include "common/net/net.h"
#include "sm/node/sm.h"
#include "sm/settings.h"
#include "sm/shared.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* mainsm has started this sm, and replies soon or never */
#define FIRST_CONTACT_MAX_NS (15 * NSEC_PER_SEC)
#define STDIN_MAX_MS 10000
#define STACKED_MAX 64 /* sms below another one, on one host for one user and site */

struct program {
	struct daemon *daemon;
	struct connstr conn;
	char dir[FILE_PATH_BYTES]; /* key and certificate */
	char spool[FILE_PATH_BYTES]; /* directory in it: kept subscriptions */
	char host[NAME_MAX_BYTES + 1];
	char listen[NET_ADDR_BYTES];
	struct join *join;
	struct net_ctx *ctx; /* of the join */
	struct link_net *dialer;
	struct sm *sm;
	struct shared *shared; /* serves many users: then there is no single sm */
	struct loop_job again;
	nsec_t first_try;
};

static const struct settings *settings_of(const struct program *p)
{
	return daemon_conf(p->daemon);
}

/* Logs one line with the reason why there is no sm. */
static void give_up(struct program *p, int exit_code, const struct err *why)
{
	log_error("sm", "%s", why->text);
	daemon_end(p->daemon, exit_code);
}

/* --- callbacks of the core */

static void health(void *arg, struct daemon_health *out)
{
	daemon_health(((struct program *)arg)->daemon, out);
}

static void on_ready(void *arg)
{
	struct program *p = arg;

	daemon_ready(p->daemon);
}

static void on_end(void *arg, const char *reason)
{
	struct program *p = arg;

	daemon_stop(p->daemon, reason);
}

static void close_core(struct program *p)
{
	sm_free(p->sm);
	p->sm = NULL;
	link_net_free(p->dialer);
	p->dialer = NULL;
}

/* --- first contact */

static void on_again(void *arg)
{
	struct program *p = arg;

	close_core(p);
	join_again(p->join);
}

/* After the first contact, an sm waits for its mainsm as long as it has lms. */
static void on_unreachable(void *arg, const struct err *why, bool was_up)
{
	struct program *p = arg;
	nsec_t now = loop_now(daemon_loop(p->daemon));
	struct err e = *why;

	if (was_up)
		return;
	if (why->code == ERR_DENIED && join_may_again(p->join)) {
		loop_job_post(daemon_loop(p->daemon), &p->again, on_again, p);
		return;
	}
	if (why->code != ERR_DENIED && why->code != ERR_UNSUPPORTED &&
	    now - p->first_try < FIRST_CONTACT_MAX_NS)
		return;
	err_add(&e, "mainsm does not answer");
	give_up(p, DAEMON_UNREACHABLE, &e);
}

/* --- serving */

static int open_core(struct program *p, struct err *e)
{
	const struct settings *s = settings_of(p);
	struct sm_conf conf = {
		.loop = daemon_loop(p->daemon),
		.rng = daemon_rng(p->daemon),
		.timebase = daemon_timebase(p->daemon),
		.ctx = p->ctx,
		.dialer = link_net_dialer(p->dialer),
		.conn = &p->conn,
		.fan_in = (size_t)s->fan_in,
		.epoch = daemon_epoch(p->daemon),
		.site = s->site,
		.host = p->host,
		.listen = p->listen,
		.port = (uint16_t)s->port,
		.advertise = s->advertise,
		.software = "sm " OMIG_VERSION,
		.linger = s->linger,
		.grace = s->grace,
		.enrol_dir = p->dir,
		.spool = p->spool,
		.health = health,
		.on_ready = on_ready,
		.on_unreachable = on_unreachable,
		.on_end = on_end,
		.arg = p,
	};

	conf.is_stacked = sm_settings_parent(s, &conf.parent);
	return sm_open(&conf, &p->sm, e);
}

static int serve(struct program *p, struct err *e)
{
	int rc = net_own_address(settings_of(p)->listen, p->listen, e);

	p->first_try = loop_now(daemon_loop(p->daemon));
	if (!rc)
		rc = link_net_to_mainsm(p->ctx, &p->conn, &p->dialer) ? err_nomem(e) : 0;
	if (!rc)
		rc = open_core(p, e);
	if (!rc)
		log_info("sm", "listening site=%s port=%u", settings_of(p)->site, sm_port(p->sm));
	return rc;
}

static void on_member(void *arg, struct net_ctx *ctx)
{
	struct program *p = arg;
	struct err e = { 0 };

	p->ctx = ctx;
	if (serve(p, &e))
		give_up(p, DAEMON_FAILED, &e);
}

static void on_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	give_up(arg, DAEMON_UNREACHABLE, why);
}

/* --- starting */

/*
 * Reads up to the end of the line. The launcher wrote it before it started us, or ssh delivers it
 * soon.
 */
static int read_line(char *out, size_t size, struct err *e)
{
	struct pollfd f = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t n = 0;

	while (n < size - 1 && (!n || out[n - 1] != '\n')) {
		if (poll(&f, 1, STDIN_MAX_MS) != 1)
			return err_set(e, ERR_TIMEOUT,
				       "no connection string came on standard input");
		if (read(STDIN_FILENO, out + n, 1) != 1)
			break;
		n++;
	}
	out[n] = 0;
	return n ? 0 : err_set(e, ERR_CLOSED, "no connection string came on standard input");
}

static int find_mainsm(struct program *p, struct err *e)
{
	const struct settings *s = settings_of(p);
	const struct connstr_source from = { .given = s->mainsm,
					     .state_dir = daemon_state_dir(p->daemon) };
	char line[CONNSTR_MAX_BYTES];
	int rc;

	if (!s->mainsm_stdin)
		return connstr_find(&from, &p->conn, e);
	rc = read_line(line, sizeof(line), e);
	if (!rc)
		rc = connstr_parse(line, &p->conn, e);
	str_wipe(line, sizeof(line));
	return rc;
}

static void find_host(struct program *p)
{
	gethostname(p->host, sizeof(p->host) - 1);
	if (!str_is_name(p->host, strlen(p->host)))
		str_copy(p->host, sizeof(p->host), "localhost");
}

static int lock_dir(struct program *p, const char *name, struct err *e)
{
	char lock[FILE_PATH_BYTES];
	int rc;

	rc = file_join(p->dir, sizeof(p->dir), daemon_state_dir(p->daemon), name, e);
	if (!rc)
		rc = file_join(p->spool, sizeof(p->spool), p->dir, "spool", e);
	if (!rc)
		rc = file_private_dir(p->dir, e);
	if (!rc)
		rc = file_join(lock, sizeof(lock), p->dir, "lock", e);
	return rc ? rc : daemon_lock(p->daemon, lock, e);
}

/* Below another sm there may be more than one on a host: each has the certificate that it had
 * before. */
static int open_dir(struct program *p, struct err *e)
{
	const char *address, *site = settings_of(p)->site;
	char name[SITE_NAME_MAX_BYTES + 16];
	int rc = -ERR_EXISTS;

	snprintf(name, sizeof(name), "sm-%s", site);
	if (!sm_settings_parent(settings_of(p), &address))
		rc = lock_dir(p, name, e);
	else
		for (int i = 1; rc == -ERR_EXISTS && i <= STACKED_MAX; i++) {
			snprintf(name, sizeof(name), "sm-%s-%d", site, i);
			rc = lock_dir(p, name, e);
		}
	if (rc == -ERR_EXISTS)
		err_add(e, "an sm of site %s runs here already", settings_of(p)->site);
	return rc;
}

static int begin(struct program *p, int *exit_code, struct err *e)
{
	int rc = find_mainsm(p, e);

	*exit_code = DAEMON_UNREACHABLE;
	if (rc)
		return rc;
	*exit_code = DAEMON_FAILED;
	return join_open(&(struct join_conf){ .loop = daemon_loop(p->daemon),
					      .dir = p->dir,
					      .conn = &p->conn,
					      .role = "sm",
					      .site = settings_of(p)->site,
					      .host = p->host,
					      .on_ready = on_member,
					      .on_trouble = on_trouble,
					      .arg = p },
			 &p->join, e);
}

static int start_shared(struct program *p, int *exit_code, struct err *e)
{
	int rc = shared_start(p->daemon, settings_of(p), p->host, &p->shared, e);

	*exit_code = DAEMON_FAILED;
	if (!rc)
		daemon_ready(p->daemon);
	return rc;
}

static int start(struct daemon *d, int *exit_code, struct err *e)
{
	struct program *p = daemon_user(d);
	int rc;

	p->daemon = d;
	find_host(p);
	if (settings_of(p)->shared)
		return start_shared(p, exit_code, e);
	rc = open_dir(p, e);
	return rc ? rc : begin(p, exit_code, e);
}

/* A running sm uses the port itself: a check before its reload must accept that. */
static int check_port(struct daemon *d, const struct settings *s, struct err *e)
{
	char lock[FILE_PATH_BYTES];
	int rc = net_check_port(s->listen, (uint16_t)s->port, e);

	if (rc == -ERR_EXISTS && snprintf(lock, sizeof(lock), "%s/%s-%s/lock", daemon_state_dir(d),
					  s->shared ? "site" : "sm", s->site) < (int)sizeof(lock))
		return daemon_runs(d, lock) ? 0 : rc;
	return rc;
}

static int check_start(struct daemon *d, struct err *e)
{
	const struct settings *s = daemon_conf(d);
	const struct connstr_source from = { .given = s->mainsm };
	struct connstr conn;
	int rc = check_port(d, s, e);

	if (!rc && s->mainsm[0])
		rc = connstr_find(&from, &conn, e) ? err_add(e, "mainsm") : 0;
	str_wipe(&conn, sizeof(conn));
	return rc;
}

static int reload(struct daemon *d, const void *values, struct err *e)
{
	struct program *p = daemon_user(d);
	const struct settings *s = values;
	int rc;

	if (p->shared)
		return shared_reload(p->shared, s, e);
	rc = join_reload(p->join, e);
	if (!rc && p->sm)
		sm_set_times(p->sm, s->linger, s->grace);
	return rc;
}

static void status(struct daemon *d, struct buf *out)
{
	struct program *p = daemon_user(d);

	if (p->shared)
		shared_dump(p->shared, out);
	if (p->sm)
		sm_dump(p->sm, out);
}

static void done(struct daemon *d)
{
	struct program *p = daemon_user(d);

	loop_job_cancel(&p->again);
	shared_free(p->shared);
	close_core(p);
	join_free(p->join);
}

const struct daemon_spec sm_program_spec = {
	.program = "sm",
	.summary = "the monitor's daemon of one site",
	.details =
		"mainsm starts it when the first host of a site connects. It "
		"serves the lms of\n"
		"its site, answers requests once for all of them, and ends when none is left "
		"for a while.\n"
		"The connection string comes from OMIG_MAINSM, --mainsm or, with "
		"--mainsm-stdin, from a line on\n"
		"standard input.\n"
		"With --parent it serves a part of a site's hosts below the site's sm, or below another such "
		"one:\nhosts are sent to it, and go to others when it has ended.\n"
		"With --shared an admin starts it, as a user of its own: it serves the mainsms of many\n"
		"users (omig site, omig admin).",
	.bytes = sizeof(struct program),
	.conf = &sm_settings_schema,
	.background = true,
	.check = sm_settings_check,
	.check_start = check_start,
	.start = start,
	.reload = reload,
	.status = status,
	.done = done,
};
