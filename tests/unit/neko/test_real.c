/* SPDX-License-Identifier: Apache-2.0 */
/* The same layers as processes of the system, and the bytes between them. */
#include "common/base/array.h"
#include "neko/fd.h"
#include "neko/real.h"
#include "neko/realwire.h"
#include "neko/run.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTEMPTS 20 /* of a run that a loaded machine may have kept from seeing what it should */

/* A run of a second or two; 60 s are for a machine that does something else most of the time. */
static struct run *real(const char *text, struct setup **s, struct run_figures *f)
{
	struct run_wish w = { .deadline = clock_mono() + 60 * NSEC_PER_SEC };
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
	size_t n = run_results(r, v), i;

	for (i = 0; i < n; i++)
		if (strcmp(quantity_name(v[i].quantity), name) == 0)
			return quantity_moments(v[i].quantity);
	ck_abort_msg("there is no %s", name);
}

/* A heartbeat that is awaited at the moment when it is sent is always late: each one makes a mistake. */
START_TEST(layers_of_a_simulation_run_as_processes_and_their_handler_stops_them)
{
	static const char text[] =
		"process.num = 3\nprocess.1.initializer = heartbeat\nprocess.2-3.initializer = "
		"nfd-s\n"
		"network = n, other\nnetwork.n.delay = constant(1s)\nnetwork.other.delay = "
		"constant(1s)\n"
		"fd.eta = 5ms\nfd.delta = 0s\nfd.network = 2\nstat.stop = n >= 20\n";
	struct run_figures f;
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
END_TEST

static bool is_detected(void)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = phi\n"
		"process.1.crash = 200ms\nnetwork = n\nnetwork.n.delay = constant(1s)\n"
		"fd.eta = 5ms\nsimulation.until = 400ms\n";
	struct run_figures f;
	struct setup *s;
	struct run *r = real(text, &s, &f);
	bool is = moments_of(r, "T_D")->n == 1;

	ck_assert_uint_eq(f.missing, 0); /* it was to crash */
	ck_assert_uint_le(moments_of(r, "T_D")->n, 1);
	run_free(r);
	setup_free(s);
	return is;
}

START_TEST(a_process_that_is_killed_is_detected)
{
	unsigned i;

	for (i = 0; i < ATTEMPTS && !is_detected(); i++)
		;
	ck_assert_uint_lt(i, ATTEMPTS);
}
END_TEST

static void note_crash(void *arg, const struct neko_event *v)
{
	nsec_t *at = arg;

	if (strcmp(v->what, NEKO_CRASHED) == 0)
		*at = v->at;
}

static nsec_t crash_of(int (*run)(struct run *, const struct run_wish *, struct run_figures *,
				  struct err *))
{
	static const char text[] =
		"process.num = 2\nprocess.initializer = none\nnetwork = n\nnetwork.n.delay = "
		"constant(1s)\n"
		"process.1.crash = 0s..400ms\nsimulation.until = 500ms\nsimulation.seed = 1\n";
	nsec_t at = -1;
	struct run_wish w = { .on_event = note_crash, .arg = &at };
	struct run_figures f;
	struct setup *s = NULL;
	struct run *r = NULL;

	ck_assert_int_eq(setup_parse(text, sizeof(text) - 1, &s, NULL), 0);
	ck_assert_int_eq(run_new(s, &r, NULL), 0);
	ck_assert_int_eq(run(r, &w, &f, NULL), 0);
	run_free(r);
	setup_free(s);
	return at;
}

START_TEST(a_crash_of_a_real_run_is_at_the_moment_of_the_simulated_one)
{
	nsec_t simulated = crash_of(run_simulate);

	ck_assert_int_ge(simulated, 100 * NSEC_PER_MSEC);
	ck_assert_int_ge(crash_of(run_real), simulated);
}
END_TEST

START_TEST(a_real_run_is_checked_as_a_simulated_one_is)
{
	static const char bad[] = "process.num = 2\nprocess.1.initializer = "
				  "heartbeat\nprocess.2.initializer = nfd-s\n"
				  "network = n\nnetwork.n.delay = constant(1s)\nsimulation.until = "
				  "1s\nfd.aeta = 1s\n";
	static const char large[] = "process.num = 300\nprocess.initializer = none\nnetwork = n\n"
				    "network.n.delay = constant(1s)\nsimulation.until = 1s\n";
	static const char *const text[] = { bad, large };
	static const int codes[] = { -ERR_NOTFOUND, -ERR_LIMIT };
	size_t i;

	for (i = 0; i < ARRAY_LEN(text); i++) {
		struct run_wish w = { 0 };
		struct setup *s = NULL;
		struct run_figures f;
		struct run *r = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(setup_parse(text[i], strlen(text[i]), &s, &e), 0);
		ck_assert_int_eq(run_new(s, &r, &e), 0);
		ck_assert_int_eq(run_real(r, &w, &f, &e), codes[i]);
		run_free(r);
		setup_free(s);
	}
}
END_TEST

/* --- bytes */

static const struct neko_world_ops no_ops;

START_TEST(datagrams_that_are_not_of_this_run_are_nothing)
{
	struct neko_world w = { 0 };
	struct neko_msg *m, *got;
	uint8_t bytes[REALWIRE_HEADER_BYTES + 5];
	size_t n, i;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	w.type_name[FD_HEARTBEAT] = "heartbeat";
	m = world_msg_new(&w, 1, 5);
	m->from = 2;
	m->type = FD_HEARTBEAT;
	m->sent_at = 77;
	memcpy(m->content, "hello", 5);
	n = realwire_datagram(bytes, 42, 3, m);
	ck_assert_uint_eq(n, sizeof(bytes));
	got = realwire_message(&w, 42, 3, 1, bytes, n);
	ck_assert_ptr_nonnull(got);
	ck_assert(got->from == 2 && got->to == 3 && got->net == 1 && got->sent_at == 77 &&
		  got->n == 5);
	ck_assert_mem_eq(got->content, "hello", 5);
	world_msg_unref(&w, got);
	ck_assert_ptr_null(realwire_message(&w, 43, 3, 1, bytes, n));
	ck_assert_ptr_null(realwire_message(&w, 42, 2, 1, bytes, n));
	for (i = 0; i < n; i++)
		ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, i));
	bytes[8] = 4; /* from a process that is none */
	ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, n));
	bytes[8] = 2;
	bytes[24] ^= 1; /* a type that nobody declared */
	ck_assert_ptr_null(realwire_message(&w, 42, 3, 1, bytes, n));
	world_msg_unref(&w, m);
	world_done(&w);
}
END_TEST

static void count_event(void *arg, const struct neko_event *v)
{
	unsigned *n = arg;

	ck_assert_str_eq(v->what, "heard");
	ck_assert(v->at == 5 && v->content == 0.25);
	++*n;
}

START_TEST(blocks_are_read_when_they_are_whole_and_refused_when_they_are_none)
{
	struct realwire_block b = { .until = 9,
				    .sent = 3,
				    .delivered = 2,
				    .count = 2,
				    .stuck = 1,
				    .is_last = true },
			      got;
	struct neko_event v = { 1, 5, "heard", 0.25 };
	struct buf out = BUF_INIT(1000);
	size_t used, i;
	unsigned n = 0;

	realwire_block(&out, &b);
	realwire_event(&out, &v);
	realwire_event(&out, &v);
	realwire_end(&out, 0);
	for (i = 0; i < out.n; i++) {
		ck_assert_int_eq(realwire_read(out.p, i, &used, &got, count_event, &n), 0);
		ck_assert(used == 0 && n == 0);
	}
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), 0);
	ck_assert(used == out.n && n == 2 && got.until == 9 && got.sent == 3 && got.stuck == 1 &&
		  got.is_last);
	ck_assert(!got.wants_stop);
	out.p[28]++; /* one event more than there are */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	out.p[28] -= 2; /* one less */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	out.p[3] = 0xff; /* longer than any */
	ck_assert_int_eq(realwire_read(out.p, out.n, &used, &got, count_event, &n), -ERR_PROTO);
	buf_done(&out);
}
END_TEST

/* --- a process of which the test is the master */

#define KEY 42
#define BURSTS 4
#define BURST_EVENTS 50000 /* a block of it is more than a stream takes that nobody reads */
#define PATIENCE_MS 30000

static int done_fd; /* where the layer says what it has done */

static void say_done(void)
{
	ck_assert_int_eq(write(done_fd, "d", 1), 1);
}

/* More than the process keeps, and then one message. */
static void tell_much(struct neko_layer *l)
{
	struct neko_msg *m;
	unsigned i, k;

	for (i = 0; i < BURSTS; i++) {
		for (k = 0; k < BURST_EVENTS; k++)
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
						   .run = tell_much };

	return neko_push(p, &ops, NULL, e);
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

static pid_t begin_process(struct real_conf *c, int master, int *done)
{
	const struct real_go go = { clock_mono() };
	int ends[2];
	char ready;
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
	ck_assert_int_eq(recv(master, &ready, 1, 0), 1);
	ck_assert_int_eq(send(master, &go, sizeof(go), 0), sizeof(go));
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

	ck_assert_uint_eq(realwire_datagram(bytes, KEY, 2, &m), sizeof(bytes));
	ck_assert_int_eq(sendto(fd, bytes, sizeof(bytes), 0, (const void *)to, sizeof(*to)),
			 sizeof(bytes));
}

static void ignore_event(void *arg, const struct neko_event *v)
{
}

/* All blocks up to the last one, into sum: its flags are those of the last. */
static void read_all_blocks(int fd, struct realwire_block *last, size_t *events)
{
	struct buf in = BUF_INIT(2 * REALWIRE_BLOCK_MAX_BYTES);
	size_t used;
	ssize_t n;

	do {
		ck_assert_int_eq(buf_reserve(&in, 65536), 0);
		n = recv(fd, in.p + in.n, 65536, 0);
		ck_assert_int_gt(n, 0);
		in.n += (size_t)n;
		do {
			ck_assert_int_eq(realwire_read(in.p, in.n, &used, last, ignore_event, NULL),
					 0);
			*events += used ? last->count : 0;
			buf_drop_front(&in, used);
		} while (used);
	} while (!last->is_last);
	buf_done(&in);
}

START_TEST(a_process_lives_on_while_nobody_reads_its_events_and_says_that_some_are_lost)
{
	struct realwire_block last = { 0 };
	struct sockaddr_in address[2];
	int pair[2], own = bound_socket(&address[0]), its = bound_socket(&address[1]), done, status;
	struct real_conf c = { .m = 2,
			       .id = 2,
			       .key = KEY,
			       .nnet = 1,
			       .sock = { its },
			       .address = address,
			       .build = build_much };
	size_t events = 0;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	c.master = pair[1];
	pid = begin_process(&c, pair[0], &done);
	ck_assert(says_done(done));
	send_heartbeat(own, &address[1]);
	ck_assert(says_done(done));
	ck_assert_int_eq(send(pair[0], &(char){ REAL_STOP }, 1, 0), 1);
	read_all_blocks(pair[0], &last, &events);
	ck_assert(last.has_lost && last.delivered == 1 && last.stuck == 0);
	ck_assert(events >= BURST_EVENTS && events < BURSTS * BURST_EVENTS);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(pair[0]);
	close(done);
	close(own);
	close(its);
}
END_TEST

SUITE("real", a_process_lives_on_while_nobody_reads_its_events_and_says_that_some_are_lost,
      layers_of_a_simulation_run_as_processes_and_their_handler_stops_them,
      a_process_that_is_killed_is_detected,
      a_crash_of_a_real_run_is_at_the_moment_of_the_simulated_one,
      a_real_run_is_checked_as_a_simulated_one_is, datagrams_that_are_not_of_this_run_are_nothing,
      blocks_are_read_when_they_are_whole_and_refused_when_they_are_none)
