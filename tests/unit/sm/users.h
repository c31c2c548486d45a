/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many users of one process, in a network of memory: two mainsms and their lms that a test plays
 * itself. Between them are the users (tenants.h) and the port of the site (site_admin.h).
 */
#ifndef TESTS_UNIT_SM_USERS_H
#define TESTS_UNIT_SM_USERS_H

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/mem.h"
#include "common/omis/omis.h"
#include "sm/shared/site_admin.h"
#include "tree/wire.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define WALL (INT64_C(1700000000) * SEC)
#define USERS 2
#define TOP_PORT 7000

static const char *const pins[USERS + 1] = { "248h248h248h248h248h248h24",
					     "48h248h248h248h248h248h248",
					     "6csk6csk6csk6csk6csk6csk6c" };

/* A mainsm. */
struct top {
	char host[16];
	struct net_ctx *ctx;
	struct net_listener *listener;
	struct link *link; /* of its sm */
	uint16_t sm_port;
	unsigned replies, objects, hellos;
	char text[256]; /* of the last reply's first entry */
	uint64_t next_id, last_id;
};

/* An lm of a user. */
struct host {
	char name[16];
	struct net_ctx *ctx;
	struct link *link;
	uint16_t port;
	uint32_t number;
	unsigned requests, ups;
	bool is_up;
	char why[ERR_TEXT_BYTES];
};

/* A tool at the port of the site. */
struct guest {
	struct net_ctx *ctx;
	struct link *link;
	struct reply *last;
	unsigned replies;
	bool is_up;
	char why[ERR_TEXT_BYTES];
};

/* The network of tenants: a certificate is a line in memory. */
struct fake_enrol {
	struct loop_job job;
	void (*on_done)(void *arg, const struct err *why);
	void *arg;
	bool is_used;
};

static struct {
	struct loop *loop;
	struct mem_net *net;
	struct rng rng;
	struct timebase timebase;
	struct tenants_conf conf;
	struct tenants *tenants;
	struct net_ctx *front_ctx;
	struct site_admin *site_admin;
	struct audit *audit; /* of the port of the site; NULL: it has none */
	void (*health)(void *arg, struct omis_writer *w); /* the same */
	struct fake_enrol enrol[TENANTS_JOINING_MAX];
	bool enrol_waits; /* until enrol_go() */
	const char *enrol_why; /* NULL: it succeeds */
	bool cannot_open; /* the result of the enrolment is unusable */
	char dir[64];
	struct user_conf user[3];
	size_t nuser;
	struct top top[USERS];
	struct host host[4];
	struct guest guest;
	unsigned joined, refused;
	char joined_why[ERR_TEXT_BYTES];
} w;

static inline void run(nsec_t time)
{
	loop_advance(w.loop, time);
}

static inline nsec_t wall(void *arg)
{
	return WALL + loop_now(w.loop);
}

static inline struct identity identity(enum role role, const char *site, const char *host)
{
	static uint8_t serial;
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	id.serial[SERIAL_BYTES - 1] = ++serial;
	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}

/* --- the network of tenants */

static inline int check_fake(void *arg, const struct enrol_conf *c, struct err *why)
{
	return 0;
}

static inline void enrolled(void *arg)
{
	struct fake_enrol *n = arg;
	struct err why = { .code = ERR_DENIED };

	n->is_used = false;
	str_copy(why.text, sizeof(why.text), w.enrol_why ? w.enrol_why : "");
	n->on_done(n->arg, w.enrol_why ? &why : NULL);
}

static inline struct enrol *enrol_fake(void *arg, const struct enrol_conf *c,
				       void (*on_done)(void *arg, const struct err *why),
				       void *done_arg)
{
	struct fake_enrol *n = w.enrol;

	ck_assert_str_eq(c->role, "sm");
	ck_assert_str_eq(c->conn->secret, "secret");
	while (n->is_used)
		n++;
	n->is_used = true;
	n->on_done = on_done;
	n->arg = done_arg;
	if (!w.enrol_waits)
		loop_job_post(w.loop, &n->job, enrolled, n);
	return (struct enrol *)n;
}

static inline void enrol_go(void)
{
	w.enrol_waits = false;
	for (size_t i = 0; i < TENANTS_JOINING_MAX; i++)
		if (w.enrol[i].is_used)
			loop_job_post(w.loop, &w.enrol[i].job, enrolled, &w.enrol[i]);
}

static inline void cancel_fake(void *arg, struct enrol *n)
{
	struct fake_enrol *f = (struct fake_enrol *)n;

	loop_job_cancel(&f->job);
	f->is_used = false;
}

static inline int open_fake(void *arg, struct loop *loop, const char *dir, struct net_ctx **out,
			    struct err *e)
{
	const struct identity who = identity(ROLE_SM, "a", "sm");

	if (w.cannot_open)
		return err_set(e, ERR_SYS, "the key cannot be read");
	return mem_ctx_open(w.net, &who, out, e);
}

static const struct tenant_net fake_net = { check_fake, enrol_fake, cancel_fake, open_fake, NULL };

/* --- a mainsm */

static inline int top_on_hello(void *arg, struct link *l, const struct msg_hello *h,
			       struct msg_hello_ack *ack, struct err *why)
{
	struct top *t = arg;
	char host[NAME_MAX_BYTES + 1];

	ck_assert_str_eq(h->role, "sm");
	ck_assert_int_eq(hostport_parse(h->listen, host, &t->sm_port, NULL), 0);
	t->hellos++;
	ack->site_number = 1;
	ack->site = "a";
	return 0;
}

static inline void top_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	((struct top *)arg)->link = l;
}

static inline void top_on_down(void *arg, struct link *l, const struct err *why)
{
	struct top *t = arg;

	if (t->link == l)
		t->link = NULL;
}

static inline void top_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct top *t = arg;

	if (m->type == MSG_DIRECTORY)
		t->objects += (unsigned)m->directory.nobject;
	if (m->type != MSG_REPLY)
		return;
	t->replies++;
	t->last_id = m->reply.id;
	if (m->reply.nentry)
		snprintf(t->text, sizeof(t->text), "%u %s %.*s", m->reply.entry[0].status,
			 m->reply.entry[0].objects, (int)m->reply.entry[0].value.n,
			 (const char *)m->reply.entry[0].value.p);
}

static inline void top_on_accept(void *arg, struct chan *c)
{
	struct top *t = arg;
	const struct link_conf conf = { .loop = w.loop,
					.rng = &w.rng,
					.epoch = 1,
					.handler = { .on_hello = top_on_hello,
						     .on_up = top_on_up,
						     .on_msg = top_on_msg,
						     .on_down = top_on_down,
						     .arg = t } };

	if (!link_accept(&conf, &c))
		chan_close(c, "no memory");
}

static inline void top_start(struct top *t)
{
	const struct identity who = identity(ROLE_MAINSM, "", t->host);
	const struct net_listen_conf l = { .port = TOP_PORT, .roles = ROLE_BIT(ROLE_SM) };
	const struct net_accept a = { .on_accept = top_on_accept, .arg = t };

	ck_assert_int_eq(mem_ctx_open(w.net, &who, &t->ctx, NULL), 0);
	ck_assert_int_eq(net_listen(t->ctx, &l, &a, &t->listener, NULL), 0);
}

static inline void top_stop(struct top *t)
{
	if (!t->ctx)
		return;
	link_close(t->link, "the test is over");
	t->link = NULL;
	net_listener_close(t->listener);
	run(10 * MS);
	net_ctx_free(t->ctx);
	t->ctx = NULL;
}

static inline void top_ask(struct top *t, const char *text)
{
	const uint32_t action = 1;
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = ++t->next_id,
					    .tool = 1,
					    .identity = "omig:tool-manipulate//u",
					    .right = OMIS_MANIPULATE,
					    .deadline_ns = SEC,
					    .text = { (const uint8_t *)text, strlen(text) },
					    .action = &action,
					    .naction = 1 } };

	ck_assert_int_eq(link_send(t->link, &m), 0);
}

/* --- an lm with a process p_N_000001 */

static inline void host_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct host *h = arg;
	char node[TOKEN_BYTES];
	struct token proc;
	struct msg_object o[2];
	const struct msg m = {
		.type = MSG_DIRECTORY,
		.directory = { .full = true, .node = h->number, .object = o, .nobject = 2 }
	};

	h->is_up = true;
	h->ups++;
	snprintf(node, sizeof(node), "n_%u", h->number);
	token_print_process(&proc, h->number, 1);
	o[0] = (struct msg_object){ .token = node, .parent = "", .name = h->name, .rank = -1 };
	o[1] = (struct msg_object){ .token = proc.s, .parent = node, .name = "secretprog" };
	ck_assert_int_eq(link_send(l, &m), 0);
}

static inline void host_on_down(void *arg, struct link *l, const struct err *why)
{
	struct host *h = arg;

	h->is_up = false;
	str_copy(h->why, sizeof(h->why), why->text);
}

static inline void host_on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	str_copy(((struct host *)arg)->why, ERR_TEXT_BYTES, why->text);
}

static inline void host_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct host *h = arg;
	struct reply *r = reply_new();
	struct buf out = BUF_INIT(FRAME_MAX_BYTES);
	struct token proc;

	if (m->type == MSG_REQUEST) {
		h->requests++;
		r->id = m->request.id;
		token_print_process(&proc, h->number, 1);
		reply_add(r, 1, proc.s, STATUS_OK, "1");
		r->coverage.asked = r->coverage.answered = 1;
		wire_put_reply(&out, r);
		link_send_frames(l, out.p, out.n);
	}
	buf_done(&out);
	reply_free(r);
}

static inline int host_dial(void *arg, unsigned attempt, const struct chan_handler *ch,
			    struct chan **out, struct err *e)
{
	struct host *h = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(h->ctx, &(struct net_target){ .host = "sm", .port = h->port, .expect = &x },
			ch, out, e);
}

/* Host i of the user. */
static inline struct host *host_start(size_t i, const struct top *t)
{
	struct host *h = &w.host[i];
	const struct link_conf conf = { .loop = w.loop,
					.rng = &w.rng,
					.handler = { .on_up = host_on_up,
						     .on_msg = host_on_msg,
						     .on_down = host_on_down,
						     .on_retry = host_on_retry,
						     .arg = h } };
	struct msg_hello hello = { .role = "lm", .site = "a", .host = h->name };
	struct identity who;

	snprintf(h->name, sizeof(h->name), "h%zu", i + 1);
	who = identity(ROLE_LM, "a", h->name);
	hello.node = h->number = (uint32_t)i + 1;
	h->port = t->sm_port;
	ck_assert_int_eq(mem_ctx_open(w.net, &who, &h->ctx, NULL), 0);
	h->link = link_dial(&conf, &(struct link_dialer){ host_dial, h }, &hello);
	run(100 * MS);
	return h;
}

static inline void host_stop(struct host *h)
{
	if (!h->ctx)
		return;
	link_close(h->link, "the test is over");
	run(10 * MS);
	net_ctx_free(h->ctx);
}

/* --- the process */

static inline void process_start(void)
{
	const struct identity who = identity(ROLE_MAINSM, "", "site");
	struct site_admin_conf f = { .loop = w.loop,
				     .rng = &w.rng,
				     .timebase = &w.timebase,
				     .site = "a",
				     .wall_now = wall };
	struct err e = { 0 };

	w.conf.tenant = (struct tenant_conf){ .loop = w.loop,
					      .rng = &w.rng,
					      .epoch = 1,
					      .dir = w.dir,
					      .site = "a",
					      .host = "sm",
					      .listen = "127.0.0.1",
					      .net = &fake_net,
					      .port_first = 9000,
					      .port_last = 9003,
					      .wall_now = wall };
	ck_assert_msg(!tenants_open(&w.conf, w.user, w.nuser, &w.tenants, &e), "%s", e.text);
	ck_assert_int_eq(mem_ctx_open(w.net, &who, &w.front_ctx, NULL), 0);
	f.ctx = w.front_ctx;
	f.tenants = w.tenants;
	f.audit = w.audit;
	f.health = w.health;
	ck_assert_msg(!site_admin_open(&f, &w.site_admin, &e), "%s", e.text);
}

static inline void process_stop(void)
{
	site_admin_free(w.site_admin);
	tenants_free(w.tenants);
	w.site_admin = NULL;
	w.tenants = NULL;
	run(10 * MS);
	net_ctx_free(w.front_ctx);
}

static inline void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	memset(&w, 0, sizeof(w));
	str_copy(w.dir, sizeof(w.dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w.dir));
	w.loop = loop_new_virtual();
	rng_init(&w.rng, 3);
	w.net = mem_net_new(w.loop, 1);
	timebase_init_root(&w.timebase, loop_now(w.loop), WALL);
	w.user[0] = (struct user_conf){ .name = "alice",
					.pin = pins[0],
					.max = { 4, 100, 10, 1000, 0 } };
	w.user[1] = (struct user_conf){ .name = "bob", .pin = pins[1], .max = { 1, 0, 0, 0, 0 } };
	w.nuser = 2;
	for (size_t i = 0; i < USERS; i++) {
		snprintf(w.top[i].host, sizeof(w.top[i].host), "top%zu", i + 1);
		top_start(&w.top[i]);
	}
	process_start();
}

static inline void remove_dir(void)
{
	char path[FILE_PATH_BYTES];

	for (size_t i = 0; i <= USERS; i++) {
		snprintf(path, sizeof(path), "%s/%s/user", w.dir, pins[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", w.dir, pins[i]);
		rmdir(path);
	}
	ck_assert_int_eq(rmdir(w.dir), 0);
}

static inline void clean_up(void)
{
	for (size_t i = 0; i < 4; i++)
		host_stop(&w.host[i]);
	link_close(w.guest.link, "the test is over");
	run(10 * MS);
	net_ctx_free(w.guest.ctx);
	reply_free(w.guest.last);
	if (w.tenants)
		process_stop();
	for (size_t i = 0; i < USERS; i++)
		top_stop(&w.top[i]);
	run(20 * SEC);
	mem_net_free(w.net);
	loop_free(w.loop);
	remove_dir();
}

static inline void on_joined(void *arg, const struct err *why)
{
	w.joined += !why;
	w.refused += why != NULL;
	str_copy(w.joined_why, sizeof(w.joined_why), why ? why->text : "");
}

static inline struct connstr conn_of(size_t i)
{
	struct connstr c = { .nhost = 1, .port = TOP_PORT, .token_id = "id", .secret = "secret" };

	snprintf(c.host[0], sizeof(c.host[0]), "top%zu", i + 1);
	str_copy(c.pin, sizeof(c.pin), pins[i]);
	return c;
}

static inline int join_as(size_t i, const char *name)
{
	const struct connstr c = conn_of(i);
	struct err e = { 0 };
	int got = tenants_join(w.tenants, &c, name, on_joined, &w, &e);

	if (got < 0)
		str_copy(w.joined_why, sizeof(w.joined_why), e.text);
	run(SEC);
	return got;
}

static inline int join(size_t i)
{
	return join_as(i, "somebody@x");
}

static inline void join_both(void)
{
	ck_assert_int_eq(join(0), 0);
	ck_assert_int_eq(join(1), 0);
	ck_assert_uint_eq(w.joined, 2);
	ck_assert_ptr_nonnull(w.top[0].link);
	ck_assert_ptr_nonnull(w.top[1].link);
}

static inline struct tenant_counters counters(size_t i)
{
	struct tenant_counters f = { .name = "" };
	const struct tenant *t = tenants_find(w.tenants, pins[i]);

	ck_assert_ptr_nonnull(t);
	tenant_get_counters(t, &f);
	return f;
}

#endif
