/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_online: vertices a second of the contractors of two hosts, and arcs a second of the top.
 * The off-line analysis of the same events is the baseline of the comparison. Requests go from a
 * client's host to a server's host and back; threads of the server use a database.
 */
#include "bench/bench.h"
#include "interaction/online/netonline.h"
#include "interaction/online/netspec.h"

#include <stdlib.h>

#define REQUESTS 40000
#define STEPS 8 /* of the server: threads that use the database */
#define BASE INT64_C(1700000000000000000)

static struct err e;

static void good(int rc)
{
	if (rc)
		bench_fail("%s", e.text);
}

static struct netuse *declare(void)
{
	const char *state = "db=db", *member = "db+ws", *inherit = "ws";
	struct netspec spec = { { &inherit, 1 }, { &state, 1 }, { &member, 1 } };
	struct netuse *u;

	good(netspec_declare(&spec, &u, &e));
	return u;
}

/* Batches on their way. */
struct batches {
	struct netonline *to;
	struct buf all; /* each with its length */
};

static void on_batch(void *arg, struct bytes batch)
{
	struct batches *b = arg;

	buf_put_u32le(&b->all, (uint32_t)batch.n);
	buf_put(&b->all, batch.p, batch.n);
}

static struct netonline *make(struct batches *b, uint64_t sender)
{
	struct netonline_plan plan = { .sender = sender,
				       .is_lowest = sender != 0,
				       .most = NETSPLIT_VERTICES_MAX,
				       .idle_ns = 1000000,
				       .age_ns = INT64_MAX / 2,
				       .grace_ns = 1000000,
				       .timeout_ns = INT64_MAX / 2,
				       .send = sender ? on_batch : NULL,
				       .arg = b };
	struct netuse *u = declare();
	struct netonline *o;

	good(netonline_new(&u, &plan, &o, &e));
	return o;
}

/* Takes an event of a host. */
struct sink {
	void (*take)(void *arg, const struct network_event *ev);
	void *arg;
};

/* change: an object, 1 or 2, that is begun, or ended if it is negative; 0: none. */
static void give(const struct sink *to, uint32_t host, struct network_event ev, int change)
{
	struct network_use use = { .object = (uint32_t)abs(change) - 1, .is_end = change < 0 };

	ev.node = host;
	ev.use = &use;
	ev.nuse = change != 0;
	to->take(to->arg, &ev);
}

static struct network_event event(int64_t t, enum network_kind kind, uint64_t task, uint64_t other)
{
	return (struct network_event){ .t = t, .kind = kind, .task = task, .other = other };
}

/* Sends a message, or waits for a thread. */
static struct network_event fork_of(int64_t t, uint64_t task, uint64_t other, bool is_message)
{
	struct network_event ev = event(t, NETWORK_FORK, task, other);

	ev.is_message = is_message;
	ev.blocks = !is_message;
	return ev;
}

#define WS 1
#define DB 2

static void serve(const struct sink *to, uint64_t id, int64_t t)
{
	for (uint64_t i = 0; i < STEPS; i++, t += 1000) {
		uint64_t thread = id + 10 + i;

		give(to, 1, fork_of(t, id + 1, thread, false), 0);
		give(to, 1, event(t + 10, NETWORK_SIMPLE, thread, 0), DB);
		give(to, 1, event(t + 900, NETWORK_SIMPLE, thread, 0), -DB);
		give(to, 1, event(t + 950, NETWORK_JOIN, id + 1, thread), 0);
	}
	give(to, 1, fork_of(t, id + 1, id + 2, true), 0);
	give(to, 1, event(t + 1, NETWORK_SINK, id + 1, 0), 0);
}

static void request(const struct sink *to, uint64_t id, int64_t t)
{
	struct network_event wait = event(t + 11, NETWORK_SIMPLE, id, 0);

	wait.blocks = true;
	give(to, 0, event(t, NETWORK_SOURCE, id, 0), WS);
	give(to, 0, fork_of(t + 10, id, id + 1, true), 0);
	give(to, 0, wait, 0);
	give(to, 1, event(t + 500, NETWORK_SIMPLE, id + 1, 0), 0);
	serve(to, id, t + 600);
	give(to, 0, event(t + 20000, NETWORK_JOIN, id, id + 2), 0);
	give(to, 0, event(t + 20100, NETWORK_SINK, id, 0), 0);
}

static uint64_t vertices;

static void to_host(void *arg, const struct network_event *ev)
{
	struct netonline **o = arg;

	vertices++;
	good(netonline_add(o[ev->node], ev, NULL, &e));
}

static void to_split(void *arg, const struct network_event *ev)
{
	good(netsplit_add(arg, ev, NULL, &e));
}

/* Ids are spread as those of programs are. */
static void give_all(const struct sink *to)
{
	for (uint64_t i = 0; i < REQUESTS; i++)
		request(to, (i + 1) * 64 * UINT64_C(0x9e3779b97f4a7c15),
			BASE + (int64_t)i * 100000);
}

static double seconds_since(int64_t begun)
{
	return (double)(bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begun) / 1e9;
}

/* --- off line */

static int on_part(void *arg, const struct netsplit_part *p, struct err *why)
{
	struct netanalysis a;

	if (p->outcome != NETSPLIT_WHOLE)
		return 0;
	good(network_build(p->w, why));
	good(netanalysis_run(p->w, &a, why));
	good(nettotal_add(arg, "", p->w, &a, why));
	netanalysis_done(&a);
	return 0;
}

static double off_line(struct nettotal *t)
{
	int64_t since = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct netuse *u = declare();
	struct netsplit *s = netsplit_new(u, NETSPLIT_VERTICES_MAX, on_part, t);

	give_all(&(struct sink){ to_split, s });
	good(netsplit_end(s, &e));
	netsplit_free(s);
	netuse_free(u);
	return seconds_since(since);
}

/* --- on line */

static double contract(struct batches *b, struct netonline_report *sum)
{
	int64_t since = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	struct netonline *host[2] = { make(b, 1), make(b, 2) };

	vertices = 0;
	give_all(&(struct sink){ to_host, host });
	for (int i = 0; i < 2; i++) {
		struct netonline_report r;

		good(netonline_end(host[i], &e));
		r = netonline_report(host[i]);
		sum->sent_arcs += r.sent_arcs;
		sum->sent_bytes += r.sent_bytes;
		netonline_free(host[i]);
	}
	return seconds_since(since);
}

static double add_up(const struct batches *b, struct netonline *top)
{
	int64_t since = bench_clock(CLOCK_PROCESS_CPUTIME_ID);

	for (size_t at = 0, n; at < b->all.n; at += 4 + n) {
		const uint8_t *p = b->all.p + at;

		n = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;
		good(netonline_take(top, bytes_at(p + 4, n), &e));
	}
	good(netonline_end(top, &e));
	return seconds_since(since);
}

int main(void)
{
	struct netonline_report sum = { .events = 0 };
	struct batches b = { .all = BUF_INIT(1u << 30) };
	struct netonline *top = make(NULL, 0);
	struct nettotal off;
	double below = contract(&b, &sum), above = add_up(&b, top), seconds;

	nettotal_init(&off);
	seconds = off_line(&off);
	if (off.response.sum != netonline_total(top)->response.sum ||
	    off.states.part[0]->sum != netonline_total(top)->states.part[0]->sum)
		bench_fail("on line and off line differ");
	bench_print_value("online.off_line.vertices", "million/s", (double)vertices / seconds / 1e6,
			  NULL);
	bench_print_value("online.contractor.vertices", "million/s", (double)vertices / below / 1e6,
			  "online.off_line.vertices");
	bench_print_value("online.top.arcs", "million/s", (double)sum.sent_arcs / above / 1e6,
			  NULL);
	bench_print_value("online.vertices.per_interaction", "vertices",
			  (double)vertices / REQUESTS, NULL);
	bench_print_value("online.arcs.per_interaction", "arcs", (double)sum.sent_arcs / REQUESTS,
			  "online.vertices.per_interaction");
	bench_print_value("online.up.per_arc", "bytes",
			  (double)sum.sent_bytes / (double)sum.sent_arcs, NULL);
	netonline_free(top);
	nettotal_done(&off);
	buf_done(&b.all);
	return 0;
}
