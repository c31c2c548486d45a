/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/client.h"

#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/member/enrol.h"
#include "common/net/net.h"
#include "tools/libomis/ask.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENT_LOCK_POLL_NS (20 * NSEC_PER_MSEC)

/* net and link live as long as the client once it is open. */
struct client {
	struct client_conf conf; /* the field mainsm is not retained */
	struct loop *loop;
	struct rng rng;
	struct timebase timebase;
	struct connstr conn;
	struct net_ctx *net;
	struct link_net *way; /* owned; to mainsm */
	struct link *link;
	struct asks asks;
	const char *role; /* role to enrol for */
	char dir[FILE_PATH_BYTES]; /* key and certificate */
	char self[NAME_MAX_BYTES + 1]; /* user@host */
	uint32_t tool;
	unsigned failed; /* attempts in a row */
	bool is_up;
	bool is_enrolling;
	struct err why; /* of the last failure */
};

/* --- turns of the loop */

/*
 * Writing to a closed connection raises SIGPIPE, which would end the program. The signal is blocked
 * and, if it is ours, consumed.
 */
struct pipe_guard {
	sigset_t before;
	bool was_pending;
};

static bool pipe_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void guard_enter(struct pipe_guard *g)
{
	sigset_t only;

	sigemptyset(&only);
	sigaddset(&only, SIGPIPE);
	g->was_pending = pipe_is_pending();
	pthread_sigmask(SIG_BLOCK, &only, &g->before);
}

static void guard_leave(const struct pipe_guard *g)
{
	static const struct timespec at_once;
	sigset_t only;

	sigemptyset(&only);
	sigaddset(&only, SIGPIPE);
	if (!g->was_pending && sigismember(&g->before, SIGPIPE) == 0 && pipe_is_pending())
		sigtimedwait(&only, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

void client_wait(struct client *c, nsec_t max)
{
	struct pipe_guard g;

	guard_enter(&g);
	loop_wait(c->loop, max);
	guard_leave(&g);
}

void client_turn(struct client *c)
{
	struct pipe_guard g;

	guard_enter(&g);
	loop_turn(c->loop);
	guard_leave(&g);
}

nsec_t client_now(const struct client *c)
{
	return loop_now(c->loop);
}

/* --- identity */

static void name_self(struct client *c)
{
	char host[256] = "localhost", store[1024];
	struct passwd pw, *found = NULL;

	gethostname(host, sizeof(host) - 1);
	getpwuid_r(getuid(), &pw, store, sizeof(store), &found);
	if (found)
		snprintf(c->self, sizeof(c->self), "%.100s@%.150s", found->pw_name, host);
	else
		snprintf(c->self, sizeof(c->self), "%u@%.150s", (unsigned)getuid(), host);
}

/* One directory for each monitor and host, as several hosts may share a home. */
static int name_dir(struct client *c, struct err *e)
{
	char state[FILE_PATH_BYTES], name[NAME_MAX_BYTES + 32], caid[CONNSTR_CAID_LEN + 1];
	int rc;

	connstr_caid(&c->conn, caid);
	snprintf(name, sizeof(name), "%s/%s-%s", c->role, caid, c->self);
	rc = file_state_dir(state, e);
	if (!rc)
		rc = file_join(c->dir, sizeof(c->dir), state, name, e);
	if (!rc)
		rc = file_private_dir(c->dir, e);
	return rc;
}

static struct enrol_conf enrol_conf(struct client *c)
{
	return (struct enrol_conf){ .loop = c->loop,
				    .dir = c->dir,
				    .conn = &c->conn,
				    .role = c->role,
				    .site = "",
				    .host = c->self,
				    .name = c->self,
				    .timeout = c->conf.timeout };
}

static void on_enrolled(void *arg, const struct err *why)
{
	struct client *c = arg;

	c->is_enrolling = false;
	if (why)
		c->why = *why;
}

static int enrol_now(struct client *c, struct err *e)
{
	struct enrol_conf conf = enrol_conf(c);

	c->why = (struct err){ 0 };
	c->is_enrolling = true;
	if (!enrol_run(&conf, on_enrolled, c))
		return err_nomem(e);
	while (c->is_enrolling)
		client_wait(c, NSEC_PER_SEC);
	if (c->why.code == ERR_OK)
		return 0;
	if (e)
		*e = c->why;
	return -(int)c->why.code;
}

/* Several tools of one user may start at once; only one of them may write here. -1 = time is
 * over. */
static int lock_dir(struct client *c, nsec_t until, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int fd, rc;

	rc = file_join(path, sizeof(path), c->dir, "lock", e);
	if (rc)
		return rc;
	while ((rc = file_lock(path, false, &fd, e)) == -ERR_AGAIN && loop_now(c->loop) < until)
		client_wait(c, CLIENT_LOCK_POLL_NS);
	return rc == -ERR_AGAIN ? err_set(e, ERR_TIMEOUT, "%s is held by another tool", path)
	       : rc		? rc
				: fd;
}

static int have_identity(struct client *c, struct err *e)
{
	struct enrol_conf conf = enrol_conf(c);
	struct err why = { 0 };
	int fd, got;

	got = enrol_check(&conf, clock_wall(), &why);
	if (!got)
		return 0;
	fd = lock_dir(c, loop_now(c->loop) + c->conf.timeout, e);
	if (fd < 0)
		return fd;
	got = enrol_check(&conf, clock_wall(), &why); /* another tool may have done it meanwhile */
	if (got > 0 && c->conn.token_id[0] == '\0')
		got = err_set(e, ERR_DENIED,
			      "%s, and the connection string has no token: ask for a new one",
			      why.text);
	else if (got > 0)
		got = enrol_now(c, e);
	else if (got < 0 && e)
		*e = why;
	close(fd);
	return got;
}

/* --- the link */

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct client *c = arg;
	bool is_back = c->tool != 0;

	(void)l;
	c->is_up = true;
	c->failed = 0;
	c->tool = ack->tool;
	if (is_back && c->conf.on_link)
		c->conf.on_link(c->conf.arg, NULL);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct client *c = arg;

	(void)l;
	if (m->type == MSG_REPLY)
		asks_take(&c->asks, &m->reply);
	else if (m->type == MSG_EVENTS && c->conf.on_events)
		c->conf.on_events(c->conf.arg, &m->events);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct client *c = arg;
	struct err e = *why;

	(void)l;
	c->is_up = false;
	c->why = *why;
	err_add(&e, "the connection to mainsm is lost");
	asks_fail(&c->asks, STATUS_OS_ERROR, &e);
	if (c->conf.on_link)
		c->conf.on_link(c->conf.arg, &e);
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct client *c = arg;

	(void)l;
	(void)retry_in;
	c->failed++;
	c->why = *why;
}

static int open_link(struct client *c, struct err *e)
{
	struct link_conf conf = {
		.loop = c->loop,
		.rng = &c->rng,
		.timebase = &c->timebase,
		.handler = { .on_up = on_up,
			     .on_msg = on_msg,
			     .on_down = on_down,
			     .on_retry = on_retry,
			     .arg = c },
	};
	struct link_dialer dialer = link_net_dialer(c->way);
	struct msg_hello hello = { .role = "tool",
				   .site = "",
				   .host = c->self,
				   .listen = "",
				   .epoch = (uint64_t)clock_wall(),
				   .software = "libomis " OMIG_VERSION };

	c->link = link_dial(&conf, &dialer, &hello);
	return c->link ? 0 : err_nomem(e);
}

/* True if all hosts of the connection string have been tried once, or refused us permanently. */
static bool is_hopeless(const struct client *c)
{
	return c->failed >= c->conn.nhost || (c->failed && c->why.code == ERR_DENIED);
}

static int await_up(struct client *c, nsec_t until, struct err *e)
{
	while (!c->is_up && !is_hopeless(c) && loop_now(c->loop) < until)
		client_wait(c, until - loop_now(c->loop));
	if (c->is_up)
		return 0;
	if (c->why.code == ERR_OK)
		err_set(&c->why, ERR_TIMEOUT, "no answer");
	if (e)
		*e = c->why;
	return err_add(e, "no mainsm at %s port %u", c->conn.host[0], (unsigned)c->conn.port);
}

/* --- life */

static int find_mainsm(struct client *c, const char *given, struct err *e)
{
	char state[FILE_PATH_BYTES];
	struct connstr_source from = { .given = given, .prefers_own = true };
	struct err why = { 0 };
	int rc;

	/* Without a state directory an option or the environment may be sufficient. */
	if (!file_state_dir(state, &why))
		from.state_dir = state;
	rc = connstr_find(&from, &c->conn, e);
	return rc == -ERR_NOTFOUND && why.code ? err_set(e, why.code, "%s", why.text) : rc;
}

/* Makes the session up to a certificate. */
static int start(struct client *c, const char *given, struct err *e)
{
	uint64_t seed = 0;
	int rc;

	rc = rng_fill_random(&seed, sizeof(seed), e);
	if (rc)
		return rc;
	rng_init(&c->rng, seed);
	c->loop = loop_new();
	if (!c->loop)
		return err_nomem(e);
	timebase_init(&c->timebase, loop_now(c->loop), clock_wall());
	name_self(c);
	rc = find_mainsm(c, given, e);
	if (!rc)
		rc = name_dir(c, e);
	return !rc ? have_identity(c, e) : rc;
}

static int connect_up(struct client *c, struct err *e)
{
	int rc = enrol_open(c->loop, c->dir, NULL, &c->net, e);

	if (!rc && link_net_to_mainsm(c->net, &c->conn, &c->way))
		rc = err_nomem(e);
	if (!rc)
		rc = open_link(c, e);
	return !rc ? await_up(c, loop_now(c->loop) + c->conf.timeout, e) : rc;
}

static int make(const struct client_conf *conf, const char *role, struct client **out,
		struct err *e)
{
	struct client *c = calloc(1, sizeof(*c));
	int got;

	if (!c)
		return err_nomem(e);
	c->conf = *conf;
	c->role = role;
	asks_init(&c->asks);
	got = start(c, conf->mainsm, e);
	c->conf.mainsm = NULL;
	str_wipe(c->conn.secret, sizeof(c->conn.secret));
	if (got < 0)
		client_close(c);
	else
		*out = c;
	return got;
}

int client_open(const struct client_conf *conf, struct client **out, struct err *e)
{
	struct client *c = NULL;
	int got = make(conf, "tool", &c, e);

	if (got < 0)
		return got;
	got = connect_up(c, e);
	if (got < 0)
		client_close(c);
	else
		*out = c;
	return got;
}

int client_identity(const struct client_conf *conf, const char *role, char *dir,
		    struct connstr *mainsm, struct err *e)
{
	struct client *c = NULL;
	int rc = make(conf, role, &c, e);

	if (!rc) {
		str_copy(dir, sizeof(c->dir), c->dir);
		*mainsm = c->conn;
	}
	client_close(c);
	return rc;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	asks_done(&c->asks);
	link_close(c->link, "the tool has ended");
	if (c->loop)
		client_turn(c); /* the goodbye is sent, closed objects are freed */
	link_net_free(c->way);
	net_ctx_free(c->net);
	loop_free(c->loop);
	str_wipe(&c->conn, sizeof(c->conn));
	free(c);
}

uint32_t client_tool(const struct client *c)
{
	return c->tool;
}

bool client_is_up(const struct client *c)
{
	return c->is_up;
}

int client_fd(struct client *c, struct err *e)
{
	return loop_pollfd(c->loop, e);
}

/* --- requests */

static int check_up(const struct client *c, struct err *e)
{
	if (c->is_up)
		return 0;
	err_set(e, ERR_CLOSED, "%s", c->why.text[0] ? c->why.text : "no answer yet");
	return err_add(e, "not connected to mainsm");
}

int client_ack_events(struct client *c, const struct msg_events_ack *ack, struct err *e)
{
	const struct msg m = { .type = MSG_EVENTS_ACK, .events_ack = *ack };
	int rc = check_up(c, e);

	if (rc)
		return rc;
	rc = link_send(c->link, &m);
	return rc ? err_set(e, (enum err_code)(-rc), "the acknowledgement could not be sent (%s)",
			    err_name(rc))
		  : 0;
}

int client_ask(struct client *c, const struct client_request *rq, uint64_t *id, struct err *e)
{
	struct msg m = { .type = MSG_REQUEST };
	int rc = check_up(c, e);

	if (!rc)
		rc = asks_add(&c->asks, rq->on_reply, rq->arg, id, e);
	if (rc)
		return rc;
	m.request = (struct msg_request){ .id = *id,
					  .identity = "",
					  .deadline_ns = rq->deadline,
					  .policy = rq->policy,
					  .quorum = rq->quorum,
					  .text = { rq->text, rq->n } };
	rc = link_send(c->link, &m);
	if (rc) {
		asks_drop(&c->asks, *id);
		return err_set(e, (enum err_code)(-rc), "the request could not be sent (%s)",
			       err_name(rc));
	}
	return 0;
}

void client_cancel(struct client *c, uint64_t id)
{
	struct msg m = { .type = MSG_CANCEL, .cancel = { .id = id } };

	asks_drop(&c->asks, id);
	if (c->is_up)
		link_send(c->link, &m);
}
