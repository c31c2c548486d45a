/* SPDX-License-Identifier: Apache-2.0 */
/* The same layers as processes of the system, and the bytes between them. */
#include "common/base/array.h"
#include "neko/algorithms/fd.h"
#include "neko/real/real.h"
#include "neko/real/realwire.h"
#include "neko/run/run.h"
#include "proto/frame.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Attempts of a run whose results a loaded machine may have prevented. */
#define ATTEMPTS 20

/* A run of a second or two; 60 s are for a machine that does something else most of the time. */
static struct run *real(const char *text, struct setup **s, struct run_counts *f)
{
	struct run_options w = { .deadline = clock_mono() + 60 * NSEC_PER_SEC };
	struct err e = { 0 };
	struct run *r = NULL;

	ck_assert_msg(setup_parse(text, strlen(text), s, &e) == 0, "%s", e.text);
	ck_assert_msg(run_new(*s, &r, &e) == 0, "%s", e.text);
	ck_assert_msg(run_real(r, &w, f, &e) == 0, "%s", e.text);
	return r;
}

static const struct moments *moments_of(const struct run *r, const char *name)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v);

	for (size_t i = 0; i < n; i++)
		if (strcmp(quantity_name(v[i].quantity), name) == 0)
			return quantity_moments(v[i].quantity);
	ck_abort_msg("there is no %s", name);
}

/*
 * A heartbeat that is awaited at the moment when it is sent is always late: each one causes a
 * mistake.
 */
TEST(simulated_layers_run_as_processes_until_the_handler_stops)
{
	static const char text[] =
		"process.num = 3\nprocess.1.initializer = heartbeat\nprocess.2-3.initializer = "
		"nfd-s\n"
		"network = n, other\nnetwork.n.delay = constant(1s)\nnetwork.other.delay = "
		"constant(1s)\n"
		"fd.eta = 5ms\nfd.delta = 0s\nnetwork.other.transport = tcp\nfd.network = "
		"2\nstat.stop = n >= 20\n";
	struct run_counts f;
	struct setup *s;
	struct run *r = real(text, &s, &f);

	ck_assert(f.is_real && f.is_stopped && !f.is_cut);
	ck_assert_uint_eq(f.missing, 0);
	ck_assert_uint_eq(f.stuck, 0);
	ck_assert_uint_ge(f.events, 40);
	ck_assert_uint_ge(f.sent, 20);
	ck_assert_uint_ge(f.delivered, 10);
	ck_assert_uint_ge(moments_of(r, "T_M")->n, 20);
	ck_assert_uint_ge(moments_of(r, "delay")->n, 10);
	ck_assert_double_ge(moments_of(r, "delay")->min, 0);
	run_free(r);
	setup_free(s);
}

static bool is_detected(void)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = phi\n"
		"process.1.crash = 200ms\nnetwork = n\nnetwork.n.delay = constant(1s)\n"
		"fd.eta = 5ms\nsimulation.until = 400ms\n";
	struct run_counts f;
	struct setup *s;
	struct run *r = real(text, &s, &f);
	bool is = moments_of(r, "T_D")->n == 1;

	ck_assert_uint_eq(f.missing, 0); /* a crash was configured */
	ck_assert_uint_le(moments_of(r, "T_D")->n, 1);
	run_free(r);
	setup_free(s);
	return is;
}

TEST(a_process_that_is_killed_is_detected)
{
	unsigned i;

	for (i = 0; i < ATTEMPTS && !is_detected(); i++)
		;
	ck_assert_uint_lt(i, ATTEMPTS);
}

static void note_crash(void *arg, const struct neko_event *v)
{
	nsec_t *at = arg;

	if (strcmp(v->what, NEKO_CRASHED) == 0)
		*at = v->at;
}

static nsec_t crash_of(int (*run)(struct run *, const struct run_options *, struct run_counts *,
				  struct err *))
{
	static const char text[] =
		"process.num = 2\nprocess.initializer = none\nnetwork = n\nnetwork.n.delay = "
		"constant(1s)\n"
		"process.1.crash = 0s..400ms\nsimulation.until = 500ms\nsimulation.seed = 1\n";
	nsec_t at = -1;
	struct run_options w = { .on_event = note_crash, .arg = &at };
	struct run_counts f;
	struct setup *s = NULL;
	struct run *r = NULL;

	ck_assert_int_eq(setup_parse(text, sizeof(text) - 1, &s, NULL), 0);
	ck_assert_int_eq(run_new(s, &r, NULL), 0);
	ck_assert_int_eq(run(r, &w, &f, NULL), 0);
	run_free(r);
	setup_free(s);
	return at;
}

TEST(a_crash_of_a_real_run_is_at_the_moment_of_the_simulated_one)
{
	nsec_t simulated = crash_of(run_simulate);

	ck_assert_int_ge(simulated, 100 * NSEC_PER_MSEC);
	ck_assert_int_ge(crash_of(run_real), simulated);
}

TEST(a_real_run_is_checked_as_a_simulated_one_is)
{
	static const char bad[] = "process.num = 2\nprocess.1.initializer = "
				  "heartbeat\nprocess.2.initializer = nfd-s\n"
				  "network = n\nnetwork.n.delay = constant(1s)\nsimulation.until = "
				  "1s\nfd.aeta = 1s\n";
	static const char large[] = "process.num = 300\nprocess.initializer = none\nnetwork = n\n"
				    "network.n.delay = constant(1s)\nsimulation.until = 1s\n";
	static const char *const text[] = { bad, large };
	static const int codes[] = { -ERR_NOTFOUND, -ERR_LIMIT };

	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct run_options w = { 0 };
		struct setup *s = NULL;
		struct run_counts f;
		struct run *r = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(setup_parse(text[i], strlen(text[i]), &s, &e), 0);
		ck_assert_int_eq(run_new(s, &r, &e), 0);
		ck_assert_int_eq(run_real(r, &w, &f, &e), codes[i]);
		run_free(r);
		setup_free(s);
	}
}

/* --- a process of which the test is the master */

#define KEY 42
#define BURSTS 4
#define BURST_EVENTS 400000 /* more blocks of it than an unread stream takes */
#define PATIENCE_MS 30000

static int done_fd; /* where the layer reports its actions */

static void say_done(void)
{
	ck_assert_int_eq(write(done_fd, "d", 1), 1);
}

/* More than the process keeps, and then one message. */
static void report_much(struct neko_layer *l)
{
	struct neko_msg *m;

	for (unsigned i = 0; i < BURSTS; i++) {
		for (unsigned k = 0; k < BURST_EVENTS; k++)
			neko_log(l, "much", 1);
		neko_sleep(l, 100 * NSEC_PER_MSEC);
	}
	say_done();
	if (neko_receive(l, -1, &m) == 0)
		say_done();
}

static int build_much(void *arg, struct neko_process *p, struct err *e)
{
	static const struct neko_layer_ops ops = { .name = "much",
						   .types = fd_types,
						   .run = report_much };

	return neko_push(p, &ops, NULL, e);
}

/* Reads one frame into `in`. */
static void read_frame(int fd, struct frame_in *in, struct frame *f)
{
	uint8_t p[65536];
	ssize_t n;
	int rc;

	while ((rc = frame_in_next(in, f, NULL)) == 0) {
		n = recv(fd, p, sizeof(p), 0);
		ck_assert_int_gt(n, 0);
		ck_assert_int_eq(frame_in_add(in, p, (size_t)n, NULL), 0);
	}
	ck_assert_int_eq(rc, 1);
}

static void say(int fd, struct buf *b)
{
	ck_assert(!b->failed);
	ck_assert_int_eq(send(fd, b->p, b->n, 0), (ssize_t)b->n);
	buf_clear(b);
}

static int bound_socket(struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*a);

	*a = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	ck_assert_int_eq(bind(fd, (const void *)a, n), 0);
	ck_assert_int_eq(getsockname(fd, (void *)a, &n), 0);
	return fd;
}

/* Process 2 of c->m; address[0] is ours, and all others' too. */
static pid_t begin_process(struct real_conf *c, int master, struct sockaddr_in *address,
			   struct frame_in *in, int *done)
{
	struct buf b = BUF_INIT(1000);
	nsec_t epoch = clock_mono();
	struct realwire_ready ready;
	struct frame f;
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(master);
		done_fd = ends[1];
		_exit(real_live(c));
	}
	close(ends[1]);
	close(c->master);
	*done = ends[0];
	read_frame(master, in, &f);
	ck_assert_int_eq(f.type, REALWIRE_READY);
	ck_assert_int_eq(realwire_get_ready(f.p, f.n, &ready), 0);
	ck_assert_uint_eq(ready.n, 1);
	for (uint32_t i = 1; i < c->m; i++)
		address[i] = address[0];
	address[1].sin_port = htons(ready.port[0]);
	realwire_put_peers(&b, KEY, address, c->m);
	say(master, &b);
	realwire_put_times(&b, REALWIRE_GO, &epoch, 1);
	say(master, &b);
	buf_done(&b);
	return pid;
}

static bool says_done(int fd)
{
	struct pollfd f = { fd, POLLIN, 0 };
	char c;

	return poll(&f, 1, PATIENCE_MS) == 1 && read(fd, &c, 1) == 1;
}

static void send_heartbeat(int fd, const struct sockaddr_in *to)
{
	uint8_t bytes[REALWIRE_HEADER_BYTES];
	struct neko_msg m = { .from = 1, .type = FD_HEARTBEAT };

	ck_assert_uint_eq(realwire_datagram(bytes, KEY, 2, 0, &m), sizeof(bytes));
	ck_assert_int_eq(sendto(fd, bytes, sizeof(bytes), 0, (const void *)to, sizeof(*to)),
			 sizeof(bytes));
}

static void ignore_event(void *arg, const struct neko_event *v)
{
}

static void ignore_delay(void *arg, const struct neko_delay *d)
{
	++*(size_t *)arg;
}

/* All blocks up to the last one. */
static void read_all_blocks(int fd, struct frame_in *in, struct realwire_block *last,
			    size_t *events, size_t *delays)
{
	const struct realwire_hearer h = { ignore_event, ignore_delay, delays };
	nsec_t until = 0;
	struct frame f;

	do {
		read_frame(fd, in, &f);
		ck_assert_int_eq(f.type, REALWIRE_BLOCK);
		ck_assert_int_eq(realwire_read(f.p, f.n, last, &h), 0);
		ck_assert_int_ge(last->until, until);
		until = last->until;
		*events += last->count;
	} while (!last->is_last);
}

TEST(a_process_with_unread_events_continues_and_reports_the_loss)
{
	struct realwire_block last = { 0 };
	struct sockaddr_in address[2];
	int pair[2], own = bound_socket(&address[0]), done, status;
	struct real_conf c = { .m = 2,
			       .id = 2,
			       .nnet = 1,
			       .address = INADDR_LOOPBACK,
			       .wants_delays = true,
			       .build = build_much };
	size_t events = 0, delays = 0;
	struct buf b = BUF_INIT(100);
	struct frame_in in;
	pid_t pid;

	frame_in_init(&in, FRAME_MAX_BYTES);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c.master = pair[1];
	pid = begin_process(&c, pair[0], address, &in, &done);
	ck_assert(says_done(done));
	send_heartbeat(own, &address[1]);
	ck_assert(says_done(done));
	realwire_put_times(&b, REALWIRE_STOP, NULL, 0);
	say(pair[0], &b);
	read_all_blocks(pair[0], &in, &last, &events, &delays);
	ck_assert(last.has_lost && last.delivered == 1 && last.stuck == 0 && delays == 1);
	ck_assert(events >= REALLOG_CHUNK_ENTRIES && events < BURSTS * BURST_EVENTS);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	frame_in_done(&in);
	buf_done(&b);
	close(pair[0]);
	close(done);
	close(own);
}

/* --- multicast */

static void send_to_many(struct neko_layer *l)
{
	static const uint8_t longest[NEKO_CONTENT_MAX_BYTES];
	const uint32_t twice[] = { 1, 3, 1 };
	struct neko_msg *m = neko_msg_new(l, FD_HEARTBEAT, longest, sizeof(longest));

	m->to = NEKO_OTHERS;
	neko_send(l, m);
	neko_msg_unref(l, m);
	m = neko_msg_many(l, twice, 3, FD_HEARTBEAT, "b", 1);
	neko_send(l, m);
	neko_msg_unref(l, m);
	neko_send_to(l, 3, 0, FD_HEARTBEAT, "c", 1);
	say_done();
	neko_receive(l, -1, &m);
}

static int build_to_many(void *arg, struct neko_process *p, struct err *e)
{
	static const struct neko_layer_ops ops = { .name = "to_many",
						   .types = fd_types,
						   .run = send_to_many };

	return neko_push(p, &ops, NULL, e);
}

/* The next datagram as process `to` receives it: its bytes and number, or "nothing". */
static const char *heard_by(struct neko_world *w, const uint8_t *p, ssize_t n, uint32_t to)
{
	static char text[64];
	uint32_t number;
	struct neko_msg *m = realwire_message(w, &(struct realwire_end){ KEY, to, 0 },
					      bytes_at(p, (size_t)n), &number);

	if (!m)
		return "nothing";
	snprintf(text, sizeof(text), "%u of number %u from %u", m->n, number, m->from);
	world_msg_unref(w, m);
	return text;
}

static void next_datagram(int fd, struct neko_world *w, const char *first, const char *third)
{
	static uint8_t bytes[REALWIRE_DATAGRAM_MAX_BYTES];
	struct pollfd f = { fd, POLLIN, 0 };
	ssize_t n;

	ck_assert_int_eq(poll(&f, 1, PATIENCE_MS), 1);
	n = recv(fd, bytes, sizeof(bytes), 0);
	ck_assert_int_gt(n, 0);
	ck_assert_str_eq(heard_by(w, bytes, n, 1), first);
	ck_assert_str_eq(heard_by(w, bytes, n, 2), "nothing");
	ck_assert_str_eq(heard_by(w, bytes, n, 3), third);
}

/* A group with a free port. */
static int join_group(struct real_net *net)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xefff48ff) };
	const struct ip_mreqn member = { .imr_multiaddr = a.sin_addr,
					 .imr_address.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(a);

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	ck_assert_int_eq(bind(fd, (const void *)&a, n), 0);
	ck_assert_int_eq(getsockname(fd, (void *)&a, &n), 0);
	ck_assert_int_eq(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof(member)), 0);
	*net = (struct real_net){ "lan", REAL_MULTICAST, 0xefff48ff, ntohs(a.sin_port), NULL };
	return fd;
}

TEST(only_a_message_to_many_is_a_datagram_to_the_group)
{
	static const struct neko_world_ops no_ops;
	struct neko_world w = { 0 };
	struct sockaddr_in address[3];
	int pair[2], own = bound_socket(&address[0]), group, done, status;
	struct real_conf c = {
		.m = 3, .id = 2, .nnet = 1, .address = INADDR_LOOPBACK, .build = build_to_many
	};
	struct frame_in in;
	pid_t pid;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	w.type_name[FD_HEARTBEAT] = "heartbeat";
	group = join_group(&c.net[0]);
	frame_in_init(&in, FRAME_MAX_BYTES);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c.master = pair[1];
	pid = begin_process(&c, pair[0], address, &in, &done);
	ck_assert(says_done(done));
	next_datagram(group, &w, "63488 of number 0 from 2", "63488 of number 0 from 2");
	next_datagram(group, &w, "1 of number 1 from 2", "1 of number 1 from 2");
	next_datagram(own, &w, "1 of number 2 from 2", "nothing");
	next_datagram(own, &w, "nothing", "1 of number 2 from 2");
	close(pair[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	frame_in_done(&in);
	world_done(&w);
	close(done);
	close(group);
	close(own);
}

TEST(processes_of_a_multicast_group_receive_each_other)
{
	static const char text[] =
		"process.num = 3\nprocess.1.initializer = heartbeat\nprocess.2-3.initializer = "
		"nfd-s\nnetwork = lan\nnetwork.lan.delay = constant(1s)\n"
		"network.lan.transport = multicast\nnetwork.lan.group = 239.255.72.90\n"
		"fd.eta = 5ms\nfd.delta = 0s\nstat.stop = n >= 5\n";
	struct run_counts f;
	struct setup *s;
	struct run *r = real(text, &s, &f);

	ck_assert(f.is_stopped && !f.is_cut);
	ck_assert_uint_eq(f.missing, 0);
	ck_assert_uint_ge(f.delivered, 5);
	ck_assert_uint_ge(moments_of(r, "delay")->n, 5);
	run_free(r);
	setup_free(s);
}

/* An address that no interface has: TEST-NET-1. */
TEST(a_group_that_cannot_be_heard_is_reported_with_a_remedy)
{
	int pair[2], status;
	struct real_conf c = {
		.m = 2, .id = 2, .nnet = 1, .address = INADDR_LOOPBACK, .build = build_to_many
	};
	char words[REALWIRE_WORDS_BYTES];
	struct frame_in in;
	struct frame f;
	pid_t pid;

	c.net[0] = (struct real_net){
		.name = "lan", .transport = REAL_MULTICAST, .group = 0xc0000201, .port = 8766
	};
	frame_in_init(&in, FRAME_MAX_BYTES);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c.master = pair[1];
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(real_live(&c));
	read_frame(pair[0], &in, &f);
	ck_assert_int_eq(f.type, REALWIRE_FAILED);
	realwire_get_words(f.p, f.n, words);
	ck_assert_msg(strstr(words,
			     "network lan: it cannot receive from group 192.0.2.1 port 8766 on "
			     "127.0.0.1 (choose another network.lan.group or .port, or "
			     "transport = udp)"),
		      "%s", words);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	frame_in_done(&in);
	close(pair[0]);
	close(pair[1]);
}

/* --- memory of a process */

TEST(a_list_of_chunks_keeps_all_in_order_up_to_its_limit)
{
	struct reallog l = { 0 };
	struct reallog_chunk *next;
	struct neko_event v = { .what = "e" };
	size_t n = 0;

	reallog_event(&l, &v);
	ck_assert(l.has_lost); /* none was reserved */
	l.has_lost = false;
	for (size_t i = 0; i < REALLOG_CHUNKS_MAX * (size_t)REALLOG_CHUNK_ENTRIES; i++) {
		if (i % REALLOG_CHUNK_ENTRIES == 0)
			reallog_refill(&l, reallog_make(reallog_wants(&l) ? 1 : 0));
		v.at = (nsec_t)i;
		reallog_event(&l, &v);
	}
	ck_assert(!l.has_lost);
	reallog_refill(&l, reallog_make(1));
	reallog_event(&l, &v);
	ck_assert(l.has_lost);
	for (struct reallog_chunk *c = reallog_take(&l); c; c = next) {
		for (size_t i = 0; i < c->n; i++)
			ck_assert_int_eq(c->event[i].at, (nsec_t)n++);
		next = c->next;
		reallog_give_back(&l, c);
	}
	ck_assert_uint_eq(n, REALLOG_CHUNKS_MAX * (size_t)REALLOG_CHUNK_ENTRIES);
	ck_assert_uint_eq(l.held, 0);
	ck_assert_uint_le(l.nspare, REALLOG_SPARE_CHUNKS);
	reallog_done(&l);
}

SUITE("real")
