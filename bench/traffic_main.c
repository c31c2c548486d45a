/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_traffic [all [SECONDS]]: messages and bytes a second on links while a loop counter is
 * measured, against how often the ranks loop. With `all` also against processes a host, hosts a
 * site, and sites. Each point is measured twice: evaluated where the data is born, and (.central)
 * with every event brought to the top and evaluated there. Also measured: the delay of an event to
 * the tool. Real ranks, lms, sms and a mainsm over TLS, each host in namespaces of its own. The
 * counters of the daemons have all that they send to parents, heartbeats too.
 */
#include "bench/pace.h"
#include "bench/treebed.h"
#include "common/base/array.h"
#include "common/base/clock.h"
#include "tools/libomis/omis.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS 50 /* short enough for all events of an interval to have room on the way up */
#define SECONDS 5
#define SETTLE_MS 1000 /* from a start or a new pace to a steady state */
#define READY_NS (INT64_C(60) * 1000000000)
#define RATE 1000 /* while another parameter varies */
#define LATENCY_EVERY_MS 100
#define LATENCY_RATE 7 /* sevenths of intervals: each phase occurs */
#define LATENCY_READS 150
#define REQUEST_BYTES 2048

static const char loops[] =
	"Loops(Process[] ps, TimeInterval t) { PROBE bench_loop(Process, VirtualTime, Value "
	"stamp); "
	"Process p; VirtualTime vt; Value[][] x; x[p][vt] = 1 AT bench_loop(p, vt); "
	"RETURN SUM(x[p][vt] WHERE p IN ps AND x[p][vt].time IN t); }";
static const char newest[] =
	"Newest(Process[] ps, TimeInterval t) { PROBE bench_loop(Process, VirtualTime, Value "
	"stamp); "
	"Process p; VirtualTime vt; Value[][] x; x[p][vt] = stamp AT bench_loop(p, vt); "
	"RETURN MAX(x[p][vt] WHERE p IN ps AND x[p][vt].time IN t); }";

struct shape {
	unsigned sites, hosts, procs; /* hosts of a site, processes of a host */
};

struct bed {
	struct treebed *tree;
	struct pace *pace;
	struct shape shape;
	unsigned seconds;
};

/* --- the ranks */

/* Processes with equal values are reported together. */
static unsigned count_tokens(const char *list)
{
	unsigned n = *list != 0;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static unsigned ranks_seen(void)
{
	Omis_reply r = treebed_ask(
		":site_attach([]) node_attach([]) proc_attach([]) ; proc_get_info([],1)");
	unsigned n = 0;

	for (int k = 0; r[1] && r[2] && r[3] && r[4] && r[4][k].obj_list; k++)
		n += count_tokens(r[4][k].obj_list);
	omis_reply_free(r);
	return n;
}

static struct bed open_bed(struct shape shape, unsigned seconds)
{
	struct bed b = { .tree = treebed_start(), .shape = shape, .seconds = seconds };
	char pace[256], site[32];
	const char *argv[] = { "bench-loop", pace, NULL };
	int64_t until = bench_now() + READY_NS;
	unsigned want = shape.sites * shape.hosts * shape.procs;

	setenv("OMIG_RING", "1048576", 1); /* 250 ms of the fastest */
	snprintf(pace, sizeof(pace), "%s", treebed_path(b.tree, "pace"));
	b.pace = pace_make(pace);
	for (unsigned s = 0; s < shape.sites; s++)
		for (unsigned h = 0; h < shape.hosts; h++) {
			snprintf(site, sizeof(site), "bench%u", s);
			treebed_host(b.tree, site, argv, shape.procs);
		}
	treebed_wait(shape.sites * shape.hosts);
	pace_begin(b.pace);
	treebed_connect();
	while (ranks_seen() < want) {
		if (bench_now() > until)
			bench_fail("only %u of %u ranks are seen", ranks_seen(), want);
		poll(NULL, 0, 100);
	}
	return b;
}

static void close_bed(struct bed *b)
{
	pace_end(b->pace);
	omis_finalize();
	treebed_stop(b->tree);
}

/* --- a measurement */

struct measured {
	char token[32];
	double sum; /* of all values */
	unsigned reads, partial;
	struct bench_series latency,
		travel; /* ms: from the value, a time, and from the interval's end, to us */
};

/* time, until, [object,key,value,bound,time,oldest,newest,k,n,flags], ... */
static void take_values(struct measured *m, const Omis_value *all)
{
	double now = (double)clock_wall() / 1e9;

	m->reads++;
	for (size_t i = 2; i < all->n; i++) {
		const Omis_value *v = &all->list[i];

		if (v->n < 10)
			bench_fail("a value is invalid");
		m->partial += v->list[7].i < v->list[8].i;
		if (v->list[2].kind == OMIS_VALUE_TOKEN || v->list[2].f != v->list[2].f)
			continue;
		m->sum += v->list[2].f;
		bench_add(&m->latency, (now - v->list[2].f) * 1e3);
		bench_add(&m->travel, (now - (double)all->list[1].i / 1e9) * 1e3);
	}
}

static void forget(Omis_reply r, void *arg)
{
	(void)arg;
	omis_reply_free(r);
}

static void on_read(Omis_reply r, void *arg)
{
	char text[64];

	if (r[0]->status >= OMIS_FIRST_ERROR)
		bench_fail("%s", r[0]->result ? r[0]->result : omis_strerror(r[0]->status));
	if (r[0]->status == OMIS_CSR_DEFINED) {
		snprintf(text, sizeof(text), ":csr_enable([%s])", r[0]->result);
		omis_reply_free(omis_request(text, forget, NULL, 0));
	}
	if (r[0]->status == OMIS_CSR_TRIGGERED && r[1] && r[1]->result) {
		Omis_value *v = omis_value_parse(r[1]->result, r[1]->result_len);

		if (v && v->n >= 2)
			take_values(arg, v);
		omis_value_free(v);
	}
	omis_reply_free(r);
}

/* Lets time pass, and handles what arrives meanwhile. */
static void pass(int64_t ms)
{
	int64_t until = bench_now() + ms * 1000000;

	for (int64_t left = ms; left > 0; left = (until - bench_now()) / 1000000) {
		struct pollfd p = { .fd = omis_fd(), .events = POLLIN };

		poll(&p, 1, left < 100 ? (int)left : 100);
		omis_handler();
	}
}

static void create(struct measured *m, const char *text, const char *metric, unsigned every_ms,
		   bool is_central)
{
	char request[REQUEST_BYTES];
	Omis_reply r;

	snprintf(request, sizeof(request),
		 ":dfg_create([],\"%s\",\"%s\",[\"every_ms\",%u,\"mode\",\"last\",\"central\",%d])",
		 text, metric, every_ms, is_central);
	r = treebed_ask(request);
	if (!r[1] || !r[1]->result)
		bench_fail("no measurement");
	snprintf(m->token, sizeof(m->token), "%s", r[1]->result);
	omis_reply_free(r);
}

static void start(struct measured *m)
{
	char request[128];

	snprintf(request, sizeof(request), "dfg_has_read([%s]): print([$until,$values])", m->token);
	omis_reply_free(omis_request(request, on_read, m, 0));
	pass(SETTLE_MS / 2);
	snprintf(request, sizeof(request), ":dfg_start([%s])", m->token);
	omis_reply_free(treebed_ask(request));
	pass(SETTLE_MS);
}

/* Counting begins here. */
static void forget_reads(struct measured *m)
{
	m->sum = 0;
	m->reads = m->partial = 0;
	bench_clear(&m->latency);
	bench_clear(&m->travel);
}

static void end(struct measured *m)
{
	char request[64];

	snprintf(request, sizeof(request), ":dfg_delete([%s])", m->token);
	omis_reply_free(treebed_ask(request));
	pass(SETTLE_MS / 2);
	bench_done(&m->latency);
	bench_done(&m->travel);
}

/* --- traffic */

/* Returns the bytes that all links of a kind have sent to parents. */
struct traffic {
	double frames, bytes;
};

struct links {
	struct traffic host, site;
	double dropped; /* records that a ring had no room for */
	int64_t at;
};

static void add_daemon(struct links *l, const Omis_value *v)
{
	if (!v->n || v->list[0].kind != OMIS_VALUE_STRING)
		return;
	if (!strcmp(v->list[0].s, "sm")) {
		l->site.frames += treebed_fact(v, "parent_frames_out");
		l->site.bytes += treebed_fact(v, "parent_bytes_out");
	} else if (!strcmp(v->list[0].s, "lm")) {
		l->host.frames += treebed_fact(v, "parent_frames_out");
		l->host.bytes += treebed_fact(v, "parent_bytes_out");
		l->dropped += treebed_fact(v, "records_dropped");
	}
}

static struct links look(void)
{
	Omis_reply r = treebed_ask(":omig_status()");
	struct links l = { .at = bench_now() };

	for (int k = 0; r[0] && r[1] && r[1][k].obj_list; k++) {
		Omis_value *v = r[1][k].result
					? omis_value_parse(r[1][k].result, r[1][k].result_len)
					: NULL;

		if (v)
			add_daemon(&l, v);
		omis_value_free(v);
	}
	omis_reply_free(r);
	return l;
}

struct point {
	const char *axis; /* rate, procs, hosts, sites */
	unsigned at;
	bool is_central;
};

static void print(const char *what, const struct point *p, double value, const char *unit)
{
	char name[64];

	snprintf(name, sizeof(name), "flow.%s.%s_%u%s", what, p->axis, p->at,
		 p->is_central ? ".central" : "");
	bench_print_value(name, unit, value, NULL);
}

static struct links less(const struct links *a, const struct links *b)
{
	return (struct links){
		.host = { a->host.frames - b->host.frames, a->host.bytes - b->host.bytes },
		.site = { a->site.frames - b->site.frames, a->site.bytes - b->site.bytes },
		.dropped = a->dropped - b->dropped,
		.at = a->at - b->at
	};
}

/* The answer to the first of two polls is sent after it; a poll just before measures its cost. */
static struct links between(const struct links look[3])
{
	const struct links cost = less(&look[1], &look[0]), all = less(&look[2], &look[1]);

	return less(&all, &cost);
}

static void print_point(const struct bed *b, const struct point *p, const struct links *sent,
			const struct measured *m)
{
	double s = (double)sent->at / 1e9, hosts = b->shape.sites * b->shape.hosts;

	print("top_msgs_per_s", p, sent->site.frames / s, "1/s");
	print("top_bytes_per_s", p, sent->site.bytes / s, "B/s");
	print("host_msgs_per_s", p, sent->host.frames / s / hosts, "1/s");
	print("host_bytes_per_s", p, sent->host.bytes / s / hosts, "B/s");
	print("events_per_s", p, m->reads ? m->sum / m->reads * 1000 / EVERY_MS : 0, "1/s");
	print("events_dropped", p, sent->dropped, "events");
}

static void measure_point(const struct bed *b, const struct point *p, unsigned rate)
{
	struct measured m = { .reads = 0 };
	struct links looks[3], sent;

	pace_set(b->pace, rate);
	create(&m, loops, "Loops", EVERY_MS, p->is_central);
	start(&m);
	looks[0] = look();
	looks[1] = look();
	forget_reads(&m);
	pass((int64_t)b->seconds * 1000);
	looks[2] = look();
	sent = between(looks);
	print_point(b, p, &sent, &m);
	pace_set(b->pace, 0);
	end(&m);
}

static void measure_both(const struct bed *b, const char *axis, unsigned at, unsigned rate)
{
	measure_point(b, &(struct point){ axis, at, false }, rate);
	measure_point(b, &(struct point){ axis, at, true }, rate);
}

/* --- latency */

/* Fewer events than intervals: each is alone in its result, at any point of its interval. */
static void measure_latency(const struct bed *b)
{
	struct measured m = { .reads = 0 };

	pace_set(b->pace, LATENCY_RATE);
	create(&m, newest, "Newest", LATENCY_EVERY_MS, false);
	start(&m);
	forget_reads(&m);
	while (m.reads < LATENCY_READS)
		pass(LATENCY_EVERY_MS);
	bench_print("flow.latency.p50.ms", "ms", &m.latency, NULL);
	bench_print_quantile("flow.latency.p99.ms", "ms", &m.latency, 0.99, NULL);
	bench_print("flow.latency.travel.p50.ms", "ms", &m.travel, NULL);
	pace_set(b->pace, 0);
	end(&m);
}

/* --- the whole run */

static void sweep_rates(unsigned seconds)
{
	static const unsigned rates[] = { 1, 100, 10000, 100000 };
	struct bed b = open_bed((struct shape){ 2, 2, 1 }, seconds);

	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		measure_both(&b, "rate", rates[i], rates[i]);
	close_bed(&b);
	b = open_bed((struct shape){ 2, 1, 1 }, seconds);
	measure_latency(&b);
	close_bed(&b);
}

static void sweep(const char *axis, unsigned most, unsigned seconds)
{
	for (unsigned n = 1; n <= most; n *= 2) {
		const struct shape shape = { *axis == 's' ? n : 1,
					     *axis == 'h'   ? n
					     : *axis == 's' ? 2
							    : 1,
					     *axis == 'p' ? n : 2 };
		struct bed b = open_bed(shape, seconds);

		measure_both(&b, axis, n, RATE);
		close_bed(&b);
	}
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SECONDS;

	sweep_rates(seconds ? seconds : 1);
	if (argc < 2)
		return 0;
	sweep("procs", 8, seconds ? seconds : 1);
	sweep("hosts", 8, seconds ? seconds : 1);
	sweep("sites", 4, seconds ? seconds : 1);
	return 0;
}
