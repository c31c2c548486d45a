/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tools/libomis/fake_mainsm.h"

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "common/omis/text/status.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
	struct loop *loop;
	struct rng rng;
	struct timebase timebase;
	struct pki_ca *ca;
	struct net_ctx *net;
	struct net_listener *listener;
	enum fake_mood mood;
	uint32_t tools;
};

static struct server server;

/* --- enrolment */

static void issue(const struct msg_enrol *m, struct msg_enrol_ack *ack, struct buf *cert)
{
	struct identity as = { .role = ROLE_TOOL_MANIPULATE,
			       .wall_not_before = clock_wall() - NSEC_PER_SEC,
			       .wall_not_after = clock_wall() + 3600 * NSEC_PER_SEC };
	struct err e = { 0 };

	str_copy(as.host, sizeof(as.host), m->host);
	if (server.mood == FAKE_REFUSES_ENROLMENT || !str_eq(m->token_id, "tok")) {
		ack->error = "the token has expired";
		return;
	}
	if (pki_ca_issue(server.ca, m->csr_der, &as, cert, &e)) {
		ack->error = "no";
		return;
	}
	ack->cert_der = (struct bytes){ cert->p, cert->n };
	ack->ca_der.p = pki_ca_der(server.ca, &ack->ca_der.n);
}

static void on_enrol_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct msg_enrol_ack ack = { .error = "" };
	struct buf cert = BUF_INIT(8192), frame = BUF_INIT(65536);
	struct msg *m;

	(void)arg;
	if (!msg_get(type, p, n, &m, NULL)) {
		issue(&m->enrol, &ack, &cert);
		msg_enrol_ack_put(&frame, &ack);
		chan_send(c, frame.p, frame.n);
		msg_free(m);
	}
	buf_done(&cert);
	buf_done(&frame);
}

static void on_enrol_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	(void)arg;
	(void)why;
	if (ev == CHAN_CLOSED)
		chan_close(c, NULL);
}

/* --- requests */

static void send_reply(struct link *l, const struct msg_reply *r)
{
	struct msg m = { .type = MSG_REPLY, .reply = *r };

	link_send(l, &m);
}

static void answer(struct link *l, uint64_t id, uint32_t kind, const char *value)
{
	struct msg_entry e[2] = {
		{ .action = 0, .objects = kind ? "t_1" : "", .status = kind, .value = { NULL, 0 } },
		{ .action = 1,
		  .objects = "n_1",
		  .value = { (const uint8_t *)value, strlen(value) } }
	};
	static const struct msg_missing missing = { .object = "n_2", .reason = "silent" };
	struct msg_coverage c = { .asked = 2, .answered = 1, .missing = &missing, .nmissing = 1 };
	struct msg_reply r = { .id = id,
			       .kind = kind,
			       .entry = e,
			       .nentry = value[0] ? 2 : 1,
			       .coverage = &c,
			       .csr = "c_1" };

	if (kind == STATUS_CSR_DEFINED)
		e[0].value = (struct bytes){ (const uint8_t *)"c_1", 3 };
	send_reply(l, &r);
}

static void answer_parts(struct link *l, uint64_t id)
{
	struct msg_entry e = { .action = 1,
			       .objects = "n_1",
			       .value = { (const uint8_t *)"1", 1 } };
	struct msg_reply r = { .id = id, .entry = &e, .nentry = 1, .csr = "", .more = true };

	send_reply(l, &r);
	send_reply(l, &r);
	r.more = false;
	send_reply(l, &r);
}

static void answer_error(struct link *l, uint64_t id)
{
	static const char text[] = "unexpected character at offset 0";
	struct msg_entry e = { .objects = "",
			       .status = STATUS_SYNTAX_ERROR,
			       .value = { (const uint8_t *)text, sizeof(text) - 1 } };
	struct msg_reply r = { .id = id, .entry = &e, .nentry = 1, .csr = "" };

	send_reply(l, &r);
}

static void answer_conditional(struct link *l, uint64_t id)
{
	answer(l, id, STATUS_CSR_DEFINED, "");
	answer(l, id, STATUS_CSR_ENABLED, "");
	answer(l, id, STATUS_CSR_TRIGGERED, "1");
	answer(l, id, STATUS_CSR_TRIGGERED, "2");
	answer(l, id, STATUS_CSR_DELETED, "");
}

static void send_events(struct link *l, uint64_t stream, uint64_t place, bool end)
{
	const struct msg m = { .type = MSG_EVENTS,
			       .events = { "run7",
					   stream,
					   place,
					   { (const uint8_t *)"blocks", end ? 0 : 6 },
					   end,
					   NULL } };

	link_send(l, &m);
}

static void on_request(struct link *l, const struct msg_request *r)
{
	char text[256], value[320];

	snprintf(text, sizeof(text), "%.*s", (int)r->text.n, (const char *)r->text.p);
	if (str_has_prefix(text, ":print(")) {
		snprintf(value, sizeof(value), "%d", (int)r->text.n);
		answer(l, r->id, 0, value);
	} else if (str_eq(text, ":policy()")) {
		snprintf(value, sizeof(value), "%u,%u,%lld", r->policy, r->quorum,
			 (long long)r->deadline_ns / 1000000);
		answer(l, r->id, 0, value);
	} else if (str_eq(text, ":parts()")) {
		answer_parts(l, r->id);
	} else if (str_eq(text, ":events()")) {
		send_events(l, 3, 10, false);
		answer(l, r->id, 0, "1");
	} else if (str_eq(text, ":drop()")) {
		link_fail(l, MSG_ERR_REFUSED, "dropped on request");
	} else if (strchr(text, ':') && text[0] != ':') {
		answer_conditional(l, r->id);
	} else if (!str_eq(text, ":silence()")) {
		answer_error(l, r->id);
	}
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	(void)arg;
	if (m->type == MSG_REQUEST)
		on_request(l, &m->request);
	else if (m->type == MSG_EVENTS_ACK)
		send_events(l, m->events_ack.stream, m->events_ack.place + 1, true);
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *hello,
		    struct msg_hello_ack *ack, struct err *why)
{
	(void)arg;
	(void)l;
	(void)hello;
	if (server.mood == FAKE_REFUSES_HELLO)
		return err_set(why, ERR_DENIED, "64 tools are connected already");
	ack->name = "fake";
	ack->tool = ++server.tools;
	return 0;
}

static void on_link(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	(void)arg;
	(void)l;
	(void)ack;
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	(void)arg;
	(void)l;
	(void)why;
}

static void on_accept(void *arg, struct chan *c)
{
	static const struct chan_handler enrol = { on_enrol_frame, on_enrol_event, NULL };
	struct link_conf conf = { .loop = server.loop,
				  .rng = &server.rng,
				  .timebase = &server.timebase,
				  .handler = { .on_hello = on_hello,
					       .on_up = on_link,
					       .on_msg = on_msg,
					       .on_down = on_down } };

	(void)arg;
	if (chan_is_enrol(c))
		chan_set_handler(c, &enrol);
	else
		link_accept(&conf, &c);
}

/* --- life */

static void open_net(const char *dir, struct err *e)
{
	struct identity as = { .role = ROLE_MAINSM,
			       .host = "fake",
			       .wall_not_before = clock_wall() - NSEC_PER_SEC,
			       .wall_not_after = clock_wall() + 3600 * NSEC_PER_SEC };
	struct buf csr = BUF_INIT(8192), cert = BUF_INIT(8192), ca = BUF_INIT(8192);
	struct net_listen_conf lc = { .roles = ROLES_TOOL, .enrol_type = MSG_ENROL };
	struct net_accept accept = { .on_accept = on_accept };
	struct pki_creds creds = { 0 };
	struct net_conf nc = { .creds = &creds };
	struct pki_key *key;
	const uint8_t *der;
	size_t n;

	ck_assert_int_eq(pki_ca_open(dir, "fake", &server.ca, e), 0);
	ck_assert_int_eq(pki_key_new(&key, e), 0);
	ck_assert_int_eq(pki_csr_make(key, &csr, e), 0);
	ck_assert_int_eq(pki_ca_issue(server.ca, buf_bytes(&csr), &as, &cert, e), 0);
	der = pki_ca_der(server.ca, &n);
	buf_put(&ca, der, n);
	ck_assert_int_eq(pki_creds_make(&creds, key, &cert, &ca, e), 0);
	ck_assert_int_eq(net_ctx_open(server.loop, &nc, &server.net, e), 0);
	ck_assert_int_eq(net_listen(server.net, &lc, &accept, &server.listener, e), 0);
}

static void serve(const char *dir, enum fake_mood mood, int ready)
{
	struct connstr c = { .nhost = 1, .token_id = "tok", .secret = "secret" };
	struct buf line = BUF_INIT(4096);
	struct err e = { 0 };

	server.mood = mood;
	server.loop = loop_new();
	rng_init(&server.rng, 1);
	timebase_init_root(&server.timebase, loop_now(server.loop), clock_wall());
	open_net(dir, &e);
	str_copy(c.host[0], sizeof(c.host[0]), "127.0.0.1");
	c.port = net_listener_port(server.listener);
	str_copy(c.pin, sizeof(c.pin), pki_ca_pin(server.ca));
	ck_assert_int_eq(connstr_print(&c, true, &line), 0);
	ck_assert_int_eq(write(ready, line.p, line.n), (ssize_t)line.n);
	close(ready);
	loop_run(server.loop);
}

void fake_mainsm_start(struct fake_mainsm *f, enum fake_mood mood)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	char dir[300];
	ssize_t n;
	int fd[2];

	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "%s/omis-test-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	ck_assert_int_eq(pipe(fd), 0);
	f->pid = fork();
	ck_assert_int_ge(f->pid, 0);
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigaction(SIGPIPE, &ignore, NULL);
		snprintf(dir, sizeof(dir), "%s/mainsm", f->dir);
		serve(dir, mood, fd[1]);
		_exit(0);
	}
	close(fd[1]);
	n = read(fd[0], f->conn, sizeof(f->conn) - 1);
	ck_assert_int_gt(n, 0);
	close(fd[0]);
	setenv("OMIG_STATE_DIR", f->dir, 1);
	setenv("OMIG_MAINSM", f->conn, 1);
}

void fake_mainsm_stop(struct fake_mainsm *f)
{
	char *argv[] = { (char[]){ "rm" }, (char[]){ "-rf" }, f->dir, NULL };
	pid_t pid;

	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	pid = fork();
	if (pid == 0) {
		execv("/bin/rm", argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}
