/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_interaction [VERTICES]: analyses of interaction networks, in million vertices a second of
 * one core. The floor is a read of all bytes of the same input. A stream has VERTICES in many
 * interactions (default 10 million); the memory is the largest of the process.
 */
#include "bench/bench.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "interaction/form/netjson.h"
#include "interaction/form/netput.h"
#include "interaction/netanalysis.h"
#include "interaction/set/netsplit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define VERTICES 1000000 /* of one network */
#define ROUNDS 7
#define STREAM 10000000
#define OPEN 100 /* interactions under way in the stream */
#define WIDE 64 /* sub-tasks that live at once */

static struct err e;

/* The input: a record for each event, as a recorder would write it. */
struct record {
	int64_t t;
	uint64_t task, other;
	enum network_kind kind;
	bool blocks;
	uint32_t object; /* begun */
};

static void good(int rc)
{
	if (rc)
		bench_fail("%s", e.text);
}

static void declare(struct netuse *u)
{
	static const char *const name[] = { "cpu", "disk", "db", "net" };
	uint32_t object[4];

	for (unsigned i = 0; i < 4; i++) {
		good(netuse_object(u, name[i], strlen(name[i]), &object[i], &e));
		good(netuse_declare(u, object[i], i == 2 ? NETUSE_INHERIT : NETUSE_LOCAL, &e));
	}
	good(netuse_add_state(u, "in_db", object + 2, 1, &e));
	good(netuse_add_state(u, "waits", object + 1, 2, &e));
}

/* Requests to WIDE threads: fork, work, block, join. */
static struct record *make(size_t n)
{
	struct record *r = calloc(n, sizeof(*r));
	struct rng rng;
	uint64_t child = 1;
	int64_t t = 0;
	size_t i = 0;

	if (!r)
		bench_fail("out of memory");
	rng_init(&rng, 1991);
	r[i++] = (struct record){ .kind = NETWORK_SOURCE, .task = 1 };
	while (i + 6 < n) {
		t += 1 + (int64_t)rng_below(&rng, 1000);
		child++;
		r[i++] = (struct record){ t, 1, child, NETWORK_FORK, false, 2 };
		r[i++] = (struct record){ t + 5, 1, 0, NETWORK_SIMPLE, true, 3 };
		r[i++] = (struct record){ t + 10, child, 0, NETWORK_SIMPLE, false, 1 };
		r[i++] = (struct record){ t + 40, child, 0, NETWORK_SIMPLE, false, 0 };
		t += 60;
		r[i++] = (struct record){ t, 1, child, NETWORK_JOIN, false, 0 };
	}
	while (i + 1 < n)
		r[i++] = (struct record){ ++t, 1, 0, NETWORK_SIMPLE, false, 0 };
	r[i++] = (struct record){ ++t, 1, 0, NETWORK_SINK, false, 0 };
	return r;
}

static int add(struct network *w, const struct record *r, uint32_t place)
{
	bool is_use = r->kind == NETWORK_SIMPLE;
	/* counts stay below 2: each begin follows an end */
	struct network_use use[2] = { { r->object, true, false }, { r->object, false, false } };
	struct network_event ev = { .t = r->t,
				    .kind = r->kind,
				    .task = r->task,
				    .other = r->other,
				    .blocks = r->blocks,
				    .node = NETWORK_NONE,
				    .place = place,
				    .use = use,
				    .nuse = is_use ? 2 : 0 };

	return network_add(w, &ev, &e);
}

static double rate(size_t n, int64_t ns)
{
	return (double)n * 1000 / (double)ns;
}

/* A sum that the compiler keeps. */
static volatile uint64_t kept;

static void read_bytes(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t sum = 0, word;

	for (size_t i = 0; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, b + i, sizeof(word));
		sum = (sum ^ word) * 3;
	}
	kept = sum;
}

static void bench_one(const struct record *r)
{
	struct bench_series floor = { 0 }, build = { 0 }, analyse = { 0 }, all = { 0 };

	for (int round = 0; round < ROUNDS; round++) {
		struct netuse *u = netuse_new();
		int64_t t0 = bench_clock(CLOCK_PROCESS_CPUTIME_ID), t1, t2, t3;
		struct netanalysis a;
		struct network w;

		read_bytes(r, VERTICES * sizeof(*r));
		t1 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
		declare(u);
		network_init(&w, u);
		for (uint32_t i = 0; i < VERTICES; i++)
			good(add(&w, &r[i], i + 1));
		good(network_build(&w, &e));
		t2 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
		good(netanalysis_run(&w, &a, &e));
		t3 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
		bench_add(&floor, rate(VERTICES, t1 - t0));
		bench_add(&build, rate(VERTICES, t2 - t1));
		bench_add(&analyse, rate(VERTICES, t3 - t2));
		bench_add(&all, rate(VERTICES, t3 - t1));
		netanalysis_done(&a);
		network_done(&w);
		netuse_free(u);
	}
	bench_print("interaction.bytes.Mvertices/s", "M/s", &floor, NULL);
	bench_print("interaction.build.Mvertices/s", "M/s", &build,
		    "interaction.bytes.Mvertices/s");
	bench_print("interaction.path_states.Mvertices/s", "M/s", &analyse,
		    "interaction.bytes.Mvertices/s");
	bench_print("interaction.all.Mvertices/s", "M/s", &all, "interaction.bytes.Mvertices/s");
	bench_done(&floor);
	bench_done(&build);
	bench_done(&analyse);
	bench_done(&all);
}

/* --- JSON */

static int on_network(void *arg, const char *name, struct network *w, struct err *why)
{
	struct netanalysis a;

	(void)arg;
	(void)name;
	good(network_build(w, why));
	good(netanalysis_run(w, &a, why));
	netanalysis_done(&a);
	return 0;
}

static void write_json(struct buf *out, const struct record *r)
{
	struct netuse *u = netuse_new();
	struct network w;
	struct json j;

	declare(u);
	network_init(&w, u);
	for (uint32_t i = 0; i < VERTICES; i++)
		good(add(&w, &r[i], i + 1));
	json_init(&j, out);
	netput_network(&j, "bench", &w, NULL);
	if (json_end(&j))
		bench_fail("out of memory");
	network_done(&w);
	netuse_free(u);
}

static void bench_json(const struct record *r)
{
	struct bench_series floor = { 0 }, read = { 0 };
	struct buf text = BUF_INIT(1u << 30);

	write_json(&text, r);
	for (int round = 0; round < ROUNDS; round++) {
		struct netjson_taker to = { .network = on_network };
		struct netjson_report report = { 0 };
		struct netuse *u = netuse_new();
		int64_t t0 = bench_clock(CLOCK_PROCESS_CPUTIME_ID), t1, t2;
		struct jsonread j;

		read_bytes(text.p, text.n);
		t1 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
		jsonread_init_bytes(&j, text.p, text.n);
		good(netjson_read(&j, u, &to, &report, &e));
		t2 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
		bench_add(&floor, rate(VERTICES, t1 - t0));
		bench_add(&read, rate(VERTICES, t2 - t1));
		jsonread_done(&j);
		netuse_free(u);
	}
	bench_print("interaction.json.bytes.Mvertices/s", "M/s", &floor, NULL);
	bench_print("interaction.json.all.Mvertices/s", "M/s", &read,
		    "interaction.json.bytes.Mvertices/s");
	bench_done(&floor);
	bench_done(&read);
	buf_done(&text);
}

/* --- a stream of many interactions */

struct stream {
	uint64_t whole;
};

static int on_part(void *arg, const struct netsplit_part *p, struct err *why)
{
	struct stream *s = arg;
	struct netanalysis a;

	if (p->outcome != NETSPLIT_WHOLE)
		bench_fail("an interaction is not whole");
	good(network_build(p->w, why));
	good(netanalysis_run(p->w, &a, why));
	netanalysis_done(&a);
	s->whole++;
	return 0;
}

/* Interactions of 12 vertices each, OPEN of them interleaved, a millisecond apart. */
static void put_vertex(struct netsplit *s, uint64_t step)
{
	uint64_t round = step / (12 * OPEN), which = step % OPEN, row = step / OPEN % 12;
	uint64_t base = (round * OPEN + which) * 4 + 1, child = (row - 1) / 5;
	struct network_event ev = { .t = (int64_t)step * 10000,
				    .task = base,
				    .node = NETWORK_NONE,
				    .kind = NETWORK_SIMPLE };

	if (row == 0) {
		ev.kind = NETWORK_SOURCE;
	} else if (row == 11) {
		ev.kind = NETWORK_SINK;
	} else if ((row - 1) % 5 == 0) {
		ev.kind = NETWORK_FORK;
		ev.other = base + 1 + child;
	} else if ((row - 1) % 5 == 4) {
		ev.kind = NETWORK_JOIN;
		ev.other = base + 1 + child;
	} else if ((row - 1) % 5 == 1) {
		ev.blocks = true;
	} else {
		ev.task = base + 1 + child;
	}
	good(netsplit_add(s, &ev, NULL, &e));
}

static void bench_stream(uint64_t n)
{
	struct netuse *u = netuse_new();
	struct stream stream = { 0 };
	struct netsplit *s = netsplit_new(u, NETSPLIT_VERTICES_MAX, on_part, &stream);
	int64_t t0 = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct rusage usage;

	if (!s)
		bench_fail("out of memory");
	n -= n % (12 * OPEN);
	for (uint64_t i = 0; i < n; i++)
		put_vertex(s, i);
	good(netsplit_end(s, &e));
	if (stream.whole != n / 12)
		bench_fail("%" PRIu64 " interactions in place of %" PRIu64, stream.whole, n / 12);
	bench_print_value("interaction.stream.Mvertices/s", "M/s",
			  rate(n, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - t0), NULL);
	getrusage(RUSAGE_SELF, &usage);
	bench_print_value("interaction.stream.vertices", "M", (double)n / 1e6, NULL);
	bench_print_value("interaction.memory.MiB", "MiB", (double)usage.ru_maxrss / 1024, NULL);
	netsplit_free(s);
	netuse_free(u);
}

int main(int argc, char **argv)
{
	uint64_t stream = STREAM;
	struct record *r;

	if (argc > 1 && str_to_u64(argv[1], 12 * OPEN, UINT64_MAX / 16, &stream))
		bench_fail("usage: bench_interaction [VERTICES]");
	if (argc <= 1) {
		r = make(VERTICES);
		bench_one(r);
		bench_json(r);
		free(r);
	}
	bench_stream(stream);
	return 0;
}
