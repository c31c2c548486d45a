/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated world: messages a second, and what a process costs. */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "neko/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define ROUNDS 5
#define MESSAGES 2000000
#define MANY 100000
#define TYPE_TOKEN 1

/* Of this thread: figures are for one core, whoever else wants it. */
static int64_t core_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static const struct neko_type types[] = { { TYPE_TOKEN, "token" }, { 0, NULL } };

/* Whoever gets a token sends it on to anybody: on the way all of them, all the time. */
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

/* The same with a flow of control that receives. */
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
	uint32_t i;

	if (sim_new(m, 1, &s, &e) || delay_parse("exponential(10ms)", &net.delay, &e) ||
	    sim_add_net(s, &net, &e) < 0)
		bench_fail("%s", e.text);
	for (i = 1; i <= m; i++)
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
	int i;

	run(s, step);
	for (i = 0; i < ROUNDS; i++) {
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

/* The example with its handler: heartbeats, freshness points, T_M, T_MR, P_A; without and with each delay as a value. */
static void nfds(const char *name, const char *log_delay)
{
	const struct run_wish w = { 0 };
	struct bench_series v = { 0 };
	char text[512];
	int i;

	snprintf(text, sizeof(text),
		 "process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = "
		 "nfd-s\n"
		 "network = lan\nnetwork.lan.delay = exponential(20ms)\nnetwork.lan.loss = 0.05\n"
		 "fd.log_delay = %s\nsimulation.until = %ds\n",
		 log_delay, MESSAGES / ROUNDS);
	for (i = 0; i < ROUNDS; i++) {
		struct setup *s;
		struct run *r;
		struct run_figures f;
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

int main(void)
{
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
