/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens a second through the graph of a host for "the longest iteration of any process". The graph
 * has the difference of two probes for each process. It has the maximum over the processes for each
 * virtual time, and the maximum over virtual time. It is read once a second of the events' time. A
 * second value is the cost of losing a site: all links of measurements of 1,000 hosts close, open
 * again, and report one read.
 */
#include "bench/bench.h"
#include "common/flow/engine/flow.h"

#include <stdio.h>

#define MEASUREMENT 1
#define ROUNDS 31
#define TOKENS 400000 /* of a round */
#define READ_TOKENS 100000 /* between two reads: a fast program */
#define START NSEC_PER_SEC

static size_t results;

static void on_result(void *arg, const struct flow_result *r)
{
	(void)arg;
	results += r->t.k == r->t.n;
}

static uint32_t add(struct flow_graph *g, struct flow_node n, const uint32_t *in, size_t nin)
{
	struct err e = { 0 };
	int at;

	n.in = in;
	n.nin = nin;
	at = flow_graph_add(g, &n, &e);
	if (at < 0)
		bench_fail("%s", e.text);
	return (uint32_t)at;
}

static uint32_t add_event(struct flow_graph *g, unsigned process, const char *probe)
{
	char token[32];
	struct flow_source s = { .kind = FLOW_SOURCE_TIME, .probe = probe, .process = token };

	snprintf(token, sizeof(token), "p_%u", process);
	return add(g, (struct flow_node){ .kind = FLOW_INPUT, .source = s }, NULL, 0);
}

/* Four nodes a process and three above: begin and end of process p are nodes 4 p + 1 and 4 p
 * + 2. */
static struct flow_graph *graph(unsigned processes)
{
	struct flow_graph *g = flow_graph_new(MEASUREMENT);
	struct flow_fold max = { .agg = AGG_MAX };
	uint32_t in[256],
		percent =
			add(g, (struct flow_node){ .kind = FLOW_CONST, .constant = 100 }, NULL, 0);
	uint32_t at;

	for (unsigned p = 0; p < processes; p++) {
		uint32_t begin = add_event(g, p, "begin"), end = add_event(g, p, "end");

		at = add(g, (struct flow_node){ .kind = FLOW_OP, .op = FLOW_OP_SUB },
			 (uint32_t[]){ end, begin }, 2);
		in[p] = add(g, (struct flow_node){ .kind = FLOW_OP, .op = FLOW_OP_MUL },
			    (uint32_t[]){ at, percent }, 2);
	}
	at = add(g, (struct flow_node){ .kind = FLOW_SET, .fold = max }, in, processes);
	at = add(g, (struct flow_node){ .kind = FLOW_VT_AGG, .fold = max }, &at, 1);
	add(g, (struct flow_node){ .kind = FLOW_RESULT }, &at, 1);
	return g;
}

struct run {
	struct flow *f;
	unsigned processes;
	uint32_t input[512]; /* begin and end of each process */
	int64_t vt, read, tokens;
};

static void load(struct run *r, unsigned processes)
{
	struct flow_limits limits = { 1, 2000, 64 << 20 };
	struct flow_out out = { on_result, NULL, NULL };
	struct flow_graph *g = graph(processes);
	struct err e = { 0 };

	*r = (struct run){ .f = flow_new(&limits, &out), .processes = processes };
	if (!r->f || flow_load(r->f, g, START, &e))
		bench_fail("%s", e.text);
	for (unsigned p = 0; p < processes; p++) {
		r->input[2 * p] = flow_input(r->f, MEASUREMENT, 4 * p + 1);
		r->input[2 * p + 1] = flow_input(r->f, MEASUREMENT, 4 * p + 2);
	}
	flow_graph_free(g);
}

static void read_when_due(struct run *r)
{
	if (r->tokens / READ_TOKENS <= r->read)
		return;
	r->read++;
	if (flow_read(r->f, MEASUREMENT, r->read, START + r->read * NSEC_PER_SEC, NULL))
		bench_fail("a read failed");
}

/* One iteration of all processes, one after the other. */
static void iterate(struct run *r)
{
	struct flow_token t = flow_token_make(++r->vt, 0, 0, START + r->read * NSEC_PER_SEC + 1);

	for (unsigned i = 0; i < 2 * r->processes; i++) {
		t.value = (double)(r->vt + i);
		t.time++;
		flow_push(r->f, r->input[i], &t);
	}
	r->tokens += 2 * r->processes;
	read_when_due(r);
}

static double tokens_per_second(struct run *r)
{
	int64_t begin = r->tokens, t = bench_now();

	while (r->tokens - begin < TOKENS)
		iterate(r);
	return (double)(r->tokens - begin) * 1e9 / (double)(bench_now() - t);
}

static void measure(const char *name, unsigned processes)
{
	struct bench_series s = { 0 };
	struct run r;

	load(&r, processes);
	tokens_per_second(&r);
	for (int i = 0; i < ROUNDS; i++)
		bench_add(&s, tokens_per_second(&r));
	if (results != (size_t)r.read)
		bench_fail("%zu whole results of %zu reads", results, (size_t)r.read);
	results = 0;
	bench_print(name, "1/s", &s, NULL);
	bench_done(&s);
	flow_free(r.f);
}

/* --- links */

#define LINKS 1000 /* of one measurement */
#define LINK_ROUNDS 11

static struct flow_graph *fan_in(uint32_t measurement)
{
	struct flow_graph *g = flow_graph_new(measurement);
	struct flow_fold sum = { .agg = AGG_SUM };
	struct flow_link l = { .domain = FLOW_READ, .fold = sum, .behind = 1 };
	uint32_t in[LINKS], at;
	char name[32];

	for (unsigned i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "n_%u.1", i);
		l.name = name;
		in[i] = add(g, (struct flow_node){ .kind = FLOW_LINK_IN, .link = l }, NULL, 0);
	}
	at = add(g, (struct flow_node){ .kind = FLOW_SET, .fold = sum }, in, LINKS);
	add(g, (struct flow_node){ .kind = FLOW_RESULT }, &at, 1);
	return g;
}

static void take_one(struct flow *f, uint32_t measurement, const char *link, int64_t read)
{
	struct flow_token t = flow_token_make(read, 1, 0, START + read);
	const struct flow_batch b = { .measurement = measurement,
				      .link = link,
				      .read = read,
				      .domain = FLOW_READ,
				      .n = 1,
				      .t = &t };

	if (flow_take(f, &b, NULL))
		bench_fail("a batch was refused");
}

/* All links close, open again, and report. */
static double come_and_go(struct flow *f, uint32_t measurements, int64_t read)
{
	int64_t begun = bench_now();
	char name[32];

	for (int step = 0; step < 3; step++) {
		for (uint32_t i = 0; i < measurements * LINKS; i++) {
			snprintf(name, sizeof(name), "n_%u.1", (unsigned)(i % LINKS));
			if (step == 0)
				flow_link_close(f, i / LINKS + 1, name);
			else if (step == 1)
				flow_link_open(f, i / LINKS + 1, name);
			else
				take_one(f, i / LINKS + 1, name, read);
		}
	}
	for (uint32_t m = 1; m <= measurements; m++)
		flow_read(f, m, read, START + read, NULL);
	return (double)(bench_now() - begun) / 1000;
}

static void measure_links(const char *name, uint32_t measurements)
{
	const struct flow_limits limits = { measurements, measurements * (LINKS + 8), 256 << 20 };
	const struct flow_out out = { on_result, NULL, NULL };
	struct flow *f = flow_new(&limits, &out);
	struct bench_series s = { 0 };
	struct err e = { 0 };

	for (uint32_t m = 1; f && m <= measurements; m++) {
		struct flow_graph *g = fan_in(m);

		if (flow_load(f, g, START, &e))
			bench_fail("%s", e.text);
		flow_graph_free(g);
	}
	results = 0;
	for (int i = 0; f && i < LINK_ROUNDS; i++)
		bench_add(&s, come_and_go(f, measurements, i + 1));
	if (results != (size_t)measurements * LINK_ROUNDS)
		bench_fail("%zu whole results", results);
	results = 0;
	bench_print(name, "us", &s, NULL);
	bench_done(&s);
	flow_free(f);
}

int main(void)
{
	measure("flow.tokens_per_s.10", 2);
	measure("flow.tokens_per_s.100", 24);
	measure("flow.tokens_per_s.1000", 249);
	measure_links("flow.links.1000.us", 1);
	measure_links("flow.links.10000.us", 10);
	return 0;
}
