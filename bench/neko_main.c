/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated world: messages a second, and what a process costs. */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "neko/real/real.h"
#include "neko/real/realwire.h"
#include "neko/run/run.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5
#define MESSAGES 2000000
#define MANY 100000
#define TYPE_TOKEN 1

/* Processor time of this thread: values are for one core, without other load on it. */
static int64_t core_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static const struct neko_type types[] = { { TYPE_TOKEN, "token" }, { 0, NULL } };

/* A process sends each token that it gets on to a random one, so all tokens always move. */
static void pass_on(struct neko_layer *l, struct neko_msg *m)
{
	uint32_t to = 1 + (uint32_t)rng_below(neko_rng(l), neko_count(neko_process(l)));

	neko_send_to(l, to, 0, TYPE_TOKEN, m->content, m->n);
}

static void start_token(struct neko_layer *l)
{
	uint64_t number = neko_id(neko_process(l));

	neko_send_to(l, neko_id(neko_process(l)), 0, TYPE_TOKEN, &number, sizeof(number));
}

/* As pass_on(), with active layers, which receive. */
static void pass_on_actively(struct neko_layer *l)
{
	struct neko_msg *m;

	start_token(l);
	while (neko_receive(l, -1, &m) == 0)
		pass_on(l, m);
}

static const struct neko_layer_ops starter = {
	.name = "starter", .types = types, .run = start_token, .deliver = pass_on
};
static const struct neko_layer_ops receiver = { .name = "receiver",
						.types = types,
						.run = pass_on_actively };

static struct sim *make(uint32_t m, const struct neko_layer_ops *ops)
{
	struct simnet_conf net = { .name = "net" };
	struct err e = { 0 };
	struct sim *s;

	if (sim_new(m, 1, &s, &e) || delay_parse("exponential(10ms)", &net.delay, &e) ||
	    sim_add_net(s, &net, &e))
		bench_fail("%s", e.text);
	for (uint32_t i = 1; i <= m; i++)
		if (neko_push(sim_process(s, i), ops, NULL, &e))
			bench_fail("%s", e.text);
	return s;
}

static void run(struct sim *s, nsec_t until)
{
	struct err e = { 0 };
	enum sim_end end;

	if (sim_run(s, until, &end, &e) || end != SIM_TIME_OVER)
		bench_fail("%s", e.text);
}

static void messages(const char *name, uint32_t m, const struct neko_layer_ops *ops)
{
	struct bench_series v = { 0 };
	struct sim *s = make(m, ops);
	nsec_t step = (nsec_t)(1e7 * MESSAGES / m / ROUNDS);

	run(s, step);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = sim_counts(s)->delivered;
		int64_t begin = core_now();

		run(s, sim_now(s) + step);
		bench_add(&v, (double)(sim_counts(s)->delivered - before) * 1e9 /
				      (double)(core_now() - begin));
	}
	bench_print(name, "1/s", &v, NULL);
	sim_free(s);
	bench_done(&v);
}

/* The example with its handler: heartbeats, freshness points, T_M, T_MR, P_A; without and with each
 * delay as a value. */
static void nfds(const char *name, const char *log_delay)
{
	const struct run_options w = { 0 };
	struct bench_series v = { 0 };
	char text[512];

	snprintf(text, sizeof(text),
		 "process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = "
		 "nfd-s\n"
		 "network = lan\nnetwork.lan.delay = exponential(20ms)\nnetwork.lan.loss = 0.05\n"
		 "fd.log_delay = %s\nsimulation.until = %ds\n",
		 log_delay, MESSAGES / ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		struct setup *s;
		struct run *r;
		struct run_counts f;
		struct err e = { 0 };
		int64_t begin;

		if (setup_parse(text, strlen(text), &s, &e) || run_new(s, &r, &e))
			bench_fail("%s", e.text);
		begin = core_now();
		if (run_simulate(r, &w, &f, &e))
			bench_fail("%s", e.text);
		bench_add(&v, (double)f.sent * 1e9 / (double)(core_now() - begin));
		run_free(r);
		setup_free(s);
	}
	bench_print(name, "1/s", &v, NULL);
	bench_done(&v);
}

static double resident_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

/* --- a process of a real run, of which this one is the master */

#define LOG_EVENTS 20000 /* between two polls of the thread that empties the list */
#define LOG_ROUNDS 20

static void log_much(struct neko_layer *l)
{
	const int *to = *(int **)neko_state(l);

	for (unsigned i = 0; i < LOG_ROUNDS; i++) {
		int64_t begin = core_now();
		double ns;

		for (unsigned k = 0; k < LOG_EVENTS; k++)
			neko_log(l, "event", k);
		ns = (double)(core_now() - begin) / LOG_EVENTS;
		if (write(*to, &ns, sizeof(ns)) != sizeof(ns))
			return;
		neko_sleep(l, 100 * NSEC_PER_MSEC);
	}
}

static int build_logger(void *arg, struct neko_process *p, struct err *e)
{
	static const struct neko_layer_ops ops = { .name = "logger",
						   .bytes = sizeof(int *),
						   .run = log_much };
	int **to;
	int rc = neko_push(p, &ops, &to, e);

	if (!rc)
		*to = arg;
	return rc;
}

static void begin_real(int master)
{
	const struct sockaddr_in no_peer = { .sin_family = AF_INET };
	nsec_t epoch = clock_mono();
	struct buf b = BUF_INIT(1000);

	if (realwire_put_peers(&b, 1, &no_peer, 1) ||
	    realwire_put_times(&b, REALWIRE_GO, &epoch, 1) ||
	    send(master, b.p, b.n, 0) != (ssize_t)b.n)
		bench_fail("a real process could not be begun");
	buf_done(&b);
}

static void *read_away(void *arg)
{
	char bytes[65536];

	while (recv(*(int *)arg, bytes, sizeof(bytes), 0) > 0)
		;
	return NULL;
}

static void log_events(void)
{
	struct bench_series v = { 0 };
	int pair[2], figures[2];
	struct real_conf c = { .m = 1,
			       .id = 1,
			       .nnet = 1,
			       .address = INADDR_LOOPBACK,
			       .build = build_logger,
			       .arg = &figures[1] };
	pthread_t reader;
	double ns;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(figures) || (pid = fork()) < 0)
		bench_fail("no process for a real run");
	if (pid == 0) {
		close(pair[0]);
		c.master = pair[1];
		_exit(real_live(&c));
	}
	close(pair[1]);
	close(figures[1]);
	begin_real(pair[0]);
	if (pthread_create(&reader, NULL, read_away, &pair[0]))
		bench_fail("no thread");
	while (v.n < LOG_ROUNDS && read(figures[0], &ns, sizeof(ns)) == sizeof(ns))
		bench_add(&v, ns);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pthread_join(reader, NULL);
	bench_print("neko.log_event.ns", "ns", &v, NULL);
	bench_done(&v);
}

int main(void)
{
	log_events(); /* first: it forks */
	messages("neko.messages_per_s.100", 100, &starter);
	messages("neko.messages_per_s.10000", 10000, &starter);
	nfds("neko.nfds.heartbeats_per_s", "false");
	nfds("neko.nfds.heartbeats_per_s.delays", "true");
	messages("neko.received_per_s.100", 100, &receiver);
	messages("neko.received_per_s.10000", 10000, &receiver);
	messages("neko.received_per_s.100000", MANY, &receiver);
	bench_print_value("neko.processes_100000.rss", "MiB", resident_mib(), NULL);
	return 0;
}
