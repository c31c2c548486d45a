/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/growth.h"

#include "common/base/str.h"
#include "sim/nodes/cluster.h"
#include "sim/tools/answers.h"
#include "sim/tools/asker.h"
#include "sm/hosts/nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* longest time until all hosts have found their sms */
#define SETTLE_MAX_NS (120 * NSEC_PER_SEC)
/* twenty heartbeats of each link, and one poll of its clock */
#define IDLE_NS (60 * NSEC_PER_SEC)
#define MEASURED_NS (20 * NSEC_PER_SEC)
#define ASKED 5 /* number of repeated requests, of which the median counts */
#define MIB 1048576.0
#define TOKEN_ROOM 40
#define FRONT_EVERY_MS 100
#define FRONT_SETTLE_NS (2 * NSEC_PER_SEC)
/* additional time for each host, because mainsm sends to all of them */
#define FRONT_SETTLE_HOST_NS (300 * NSEC_PER_USEC)
#define FRONT_NS (5 * NSEC_PER_SEC)
#define SPEED_EVERY_NS (10 * NSEC_PER_SEC)
#define STEP_NS (10 * NSEC_PER_MSEC) /* time between two bursts of events */

static const char loops[] =
	"Loops(Process[] ps, TimeInterval t) { PROBE " SIMRANK_PROBE "(Process, VirtualTime); "
	"Process p; VirtualTime vt; Value[][] x; x[p][vt] = 1 AT " SIMRANK_PROBE "(p, vt); "
	"RETURN SUM(x[p][vt] WHERE p IN ps AND x[p][vt].time IN t); }";

const struct growth_name growth_name[GROWTH_NFIGURES] = {
	[GROWTH_IDLE_FRAMES] = { "idle_frames", "1/s", "idle: frames/s at mainsm", "per_s" },
	[GROWTH_IDLE_BYTES] = { "idle_bytes", "B/s", "idle: bytes/s at mainsm", "bytes_per_s" },
	[GROWTH_IDLE_SM_FRAMES] = { "idle_sm_frames", "1/s", "idle: frames/s at the busiest sm",
				    "per_s" },
	[GROWTH_REQUEST_MS] = { "request", "ms", "a request to all hosts: ms", "ms" },
	[GROWTH_REQUEST_FRAMES] = { "request_frames", "frames", "frames of the request at mainsm",
				    "frames" },
	[GROWTH_REQUEST_BYTES] = { "request_bytes", "B", "bytes of the request at mainsm",
				   "bytes" },
	[GROWTH_READ_MS] = { "read", "ms", "a read of a measurement over all hosts: ms", "ms" },
	[GROWTH_MEASURED_FRAMES] = { "measured_frames", "1/s",
				     "read each second: frames/s at mainsm", "per_s" },
	[GROWTH_MEASURED_BYTES] = { "measured_bytes", "B/s", "read each second: bytes/s at mainsm",
				    "bytes_per_s" },
	[GROWTH_TOP_MIB] = { "mainsm", "MiB", "memory of mainsm: MiB", "mib" },
	[GROWTH_SM_MIB] = { "sm", "MiB", "memory of the largest sm: MiB", "mib" },
};

struct bed {
	struct world w;
	struct cluster c;
	struct asker *asker;
};

/* --- a world without faults */

/*
 * Chooses the shape of the tree: daemons have about equally many branches, and no site has more
 * hosts than its sm accepts.
 */
static struct cluster_conf shape(const struct growth_conf *g, unsigned ranks)
{
	double each = pow(g->hosts, 1.0 / (g->levels + 1));
	struct cluster_conf c = { .hosts = g->hosts,
				  .levels = g->levels,
				  .ranks = ranks,
				  .are_diskless = true,
				  .delay = GROWTH_DELAY_NS };

	c.sites = (unsigned)fmax(round(each), ceil((double)g->hosts / NODES_MAX));
	c.below = cluster_below(c.sites, c.hosts, c.levels);
	return c;
}

static bool is_settled(const struct cluster *c)
{
	const struct simsite *lost;

	return cluster_hosts_below(c, &lost) == c->conf.hosts && !lost;
}

static void settle(struct bed *b)
{
	nsec_t until = loop_now(b->w.loop) + SETTLE_MAX_NS;

	while (!is_settled(&b->c) && !b->w.broken[0]) {
		loop_advance(b->w.loop, NSEC_PER_SEC);
		if (loop_now(b->w.loop) > until)
			world_break(&b->w, "not all hosts have found an sm");
	}
}

static int set_pace(struct bed *b)
{
	static const struct mem_pace pace = { GROWTH_FRAME_NS, GROWTH_BYTE_NS };
	int rc = mem_net_set_pace(b->w.net, WORLD_TOP, &pace);

	for (unsigned i = 0; !rc && i < b->c.sms; i++)
		rc = mem_net_set_pace(b->w.net, simsite_host(b->c.site[i]), &pace);
	for (unsigned i = 0; !rc && i < b->c.conf.hosts; i++)
		rc = mem_net_set_pace(b->w.net, simnode_name(b->c.node[i]), &pace);
	return rc;
}

static void report_stage(const struct growth_conf *g, const char *what)
{
	if (g->on_stage)
		g->on_stage(g, what);
}

static int open_bed(struct bed *b, const struct growth_conf *g, unsigned ranks, struct err *e)
{
	const struct cluster_conf c = shape(g, ranks);
	int rc;

	report_stage(g, "connecting all hosts");
	rc = world_open(&b->w, g->seed, true, e);

	if (rc)
		return rc;
	rc = cluster_open(&b->w, &c, &b->c, e);
	rc = rc ? rc : cluster_start_sms(&b->c, e);
	rc = rc ? rc : cluster_start(&b->c, e);
	if (rc)
		return rc;
	settle(b);
	rc = set_pace(b);
	rc = rc ? rc : asker_new(&b->w, "tool", NULL, NULL, &b->asker);
	return rc ? err_nomem(e) : 0;
}

/* Closes the world. rc: the first failure in it. */
static int close_bed(struct bed *b, int rc, struct err *e)
{
	asker_free(b->asker);
	cluster_close(&b->c);
	if (b->w.loop)
		world_close(&b->w);
	if (!rc && b->w.broken[0])
		rc = err_set(e, ERR_INTERNAL, "%s", b->w.broken);
	return rc;
}

static void pass(struct bed *b, nsec_t time)
{
	if (!b->w.broken[0])
		loop_advance(b->w.loop, time);
}

/* --- traffic of a host */

static double frames_of(const struct mem_load *l)
{
	return (double)(l->frames_in + l->frames_out);
}

static double bytes_of(const struct mem_load *l)
{
	return (double)(l->bytes_in + l->bytes_out);
}

static struct mem_load load_of(const struct bed *b, const char *host)
{
	struct mem_load l;

	mem_net_get_load(b->w.net, host, &l);
	return l;
}

static struct mem_load since(const struct bed *b, const struct mem_load *was)
{
	struct mem_load l = load_of(b, WORLD_TOP);

	return (struct mem_load){ l.frames_in - was->frames_in, l.frames_out - was->frames_out,
				  l.bytes_in - was->bytes_in, l.bytes_out - was->bytes_out,
				  l.busy - was->busy };
}

static double busiest_sm(const struct bed *b)
{
	double most = 0;

	for (unsigned i = 0; i < b->c.sms; i++) {
		struct mem_load l = load_of(b, simsite_host(b->c.site[i]));

		most = fmax(most, frames_of(&l));
	}
	return most;
}

static double seconds(nsec_t t)
{
	return (double)t / NSEC_PER_SEC;
}

static void measure_idle(struct bed *b, struct growth_point *p)
{
	struct mem_load was = load_of(b, WORLD_TOP), l;
	double sm = busiest_sm(b);

	pass(b, IDLE_NS);
	l = since(b, &was);
	p->v[GROWTH_IDLE_FRAMES] = frames_of(&l) / seconds(IDLE_NS);
	p->v[GROWTH_IDLE_BYTES] = bytes_of(&l) / seconds(IDLE_NS);
	p->v[GROWTH_IDLE_SM_FRAMES] = (busiest_sm(b) - sm) / seconds(IDLE_NS);
}

/* --- requests of a tool */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static nsec_t ask(struct bed *b, const char *text)
{
	return asker_be_ok(b->asker, text) ? asker_took(b->asker) : 0;
}

/*
 * Requests something of all hosts. Uses several requests, each for some sites, if there are more
 * hosts than one request may have objects. Returns the total time.
 */
static nsec_t ask_all_hosts(struct bed *b)
{
	const unsigned parts = b->c.conf.hosts / OMIS_OBJECTS_MAX + 1, sites = b->c.conf.sites;
	struct buf text = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	nsec_t took = 0;

	for (unsigned part = 0; part < parts; part++) {
		buf_clear(&text);
		buf_printf(&text, ":node_get_info([");
		for (unsigned i = part; parts > 1 && i < sites; i += parts)
			buf_printf(&text, "%ss_%u", i > part ? "," : "", i + 1);
		buf_printf(&text, "],1)");
		took += ask(b, buf_str(&text));
	}
	buf_done(&text);
	return took;
}

/* Returns the median time of the request; text NULL: a request to all hosts. */
static double ask_some_times(struct bed *b, const char *text)
{
	double ms[ASKED] = { 0 };

	for (int i = 0; i < ASKED && !b->w.broken[0]; i++)
		ms[i] = (double)(text ? ask(b, text) : ask_all_hosts(b)) / NSEC_PER_MSEC;
	qsort(ms, ASKED, sizeof(*ms), by_value);
	return ms[ASKED / 2];
}

/* Measures between two heartbeats, so that idle links carry less than a frame each meanwhile. */
static void measure_request(struct bed *b, struct growth_point *p)
{
	struct mem_load was, l;

	asker_be_ok(b->asker, ":site_attach([]) node_attach([]) proc_attach([])");
	p->v[GROWTH_REQUEST_MS] = ask_some_times(b, NULL);
	was = load_of(b, WORLD_TOP);
	ask_all_hosts(b);
	l = since(b, &was);
	p->v[GROWTH_REQUEST_FRAMES] = frames_of(&l);
	p->v[GROWTH_REQUEST_BYTES] = bytes_of(&l);
}

static void create(struct bed *b, const char *text, char token[TOKEN_ROOM])
{
	const struct reply *r = asker_be_ok(b->asker, text);
	char start[TOKEN_ROOM + 16];

	str_copy(token, TOKEN_ROOM, r && r->nentry ? r->entry[0].value : "");
	snprintf(start, sizeof(start), ":dfg_start([%s])", token);
	asker_be_ok(b->asker, start);
	pass(b, FRONT_SETTLE_NS + b->c.conf.hosts * FRONT_SETTLE_HOST_NS);
}

static double read_total(struct bed *b, const char *token)
{
	char text[TOKEN_ROOM + 16];
	const struct reply *r;

	snprintf(text, sizeof(text), ":dfg_read([%s])", token);
	r = asker_be_ok(b->asker, text);
	return r && r->nentry ? answers_total(r->entry[0].value) : NAN;
}

/* Each host's load is its number, so that the value must be the mean of all numbers. */
static void measure_reads(struct bed *b, struct growth_point *p)
{
	char token[TOKEN_ROOM], text[TOKEN_ROOM + 16];
	double mean = (b->c.conf.hosts - 1) / 2.0, measured;
	struct mem_load was, l;

	create(b, ":dfg_create([],\"\",\"Node_load\",[\"every_ms\",0,\"mode\",\"last\"])", token);
	measured = read_total(b, token);
	if (!(fabs(measured - mean) < 1e-6 * (mean + 1)))
		world_break(&b->w, "the mean of all hosts is %g, but %g was measured", mean,
			    measured);
	snprintf(text, sizeof(text), ":dfg_read([%s])", token);
	p->v[GROWTH_READ_MS] = ask_some_times(b, text);
	create(b, ":dfg_create([],\"\",\"Node_load\",[\"every_ms\",1000,\"mode\",\"last\"])",
	       token);
	was = load_of(b, WORLD_TOP);
	pass(b, MEASURED_NS);
	l = since(b, &was);
	p->v[GROWTH_MEASURED_FRAMES] = frames_of(&l) / seconds(MEASURED_NS);
	p->v[GROWTH_MEASURED_BYTES] = bytes_of(&l) / seconds(MEASURED_NS);
}

static void weigh(const struct bed *b, struct growth_point *p)
{
	size_t most = 0;

	for (unsigned i = 0; i < b->c.sms; i++) {
		size_t sm = simsite_clock(b->c.site[i])->heap->most;

		most = sm > most ? sm : most;
	}
	p->v[GROWTH_TOP_MIB] = (double)simtop_clock(b->c.top)->heap->most / MIB;
	p->v[GROWTH_SM_MIB] = (double)most / MIB;
}

int growth_measure(const struct growth_conf *g, struct growth_point *out, struct err *e)
{
	struct bed b = { .asker = NULL };
	int rc = open_bed(&b, g, 0, e);

	if (!rc) {
		*out = (struct growth_point){ .hosts = g->hosts,
					      .levels = g->levels,
					      .sites = b.c.conf.sites,
					      .below = b.c.conf.below,
					      .sms = b.c.sms };
		report_stage(g, "idle");
		measure_idle(&b, out);
		report_stage(g, "requests");
		measure_request(&b, out);
		report_stage(g, "measurements");
		measure_reads(&b, out);
		weigh(&b, out);
	}
	return close_bed(&b, rc, e);
}

/* --- the load of mainsm */

/* Makes each process pass its probe at this rate, spread over the steps. */
static void step_all(struct bed *b, unsigned rate, uint64_t step)
{
	uint64_t steps = NSEC_PER_SEC / STEP_NS;

	for (unsigned i = 0; i < b->c.conf.hosts; i++) {
		struct simproc *p = simhost_proc(simnode_host(b->c.node[i]), 0);
		uint64_t phase = (uint64_t)i % steps;

		for (uint64_t k = (step + phase) * rate / steps;
		     k < (step + phase + 1) * rate / steps; k++)
			simrank_step(p->mpi, (int64_t)k);
	}
}

static void work(struct bed *b, unsigned rate, nsec_t time, uint64_t *step)
{
	for (nsec_t t = 0; t < time; t += STEP_NS) {
		step_all(b, rate, (*step)++);
		pass(b, STEP_NS);
	}
}

static void measure_front(struct bed *b, struct growth_front *f)
{
	char token[TOKEN_ROOM], text[1024];
	uint64_t step = 0;
	struct mem_load was, l;
	double before;

	f->hosts = b->c.conf.hosts;
	f->levels = b->c.conf.levels;

	asker_be_ok(b->asker, ":site_attach([]) node_attach([]) proc_attach([])");
	snprintf(
		text, sizeof(text),
		":dfg_create([],\"%s\",\"Loops\",[\"every_ms\",%d,\"mode\",\"start\",\"central\",%d])",
		loops, FRONT_EVERY_MS, f->is_central);
	create(b, text, token);
	work(b, f->rate, FRONT_SETTLE_NS, &step);
	before = read_total(b, token);
	was = load_of(b, WORLD_TOP);
	work(b, f->rate, FRONT_NS, &step);
	l = since(b, &was);
	f->frames = frames_of(&l) / seconds(FRONT_NS);
	f->bytes = bytes_of(&l) / seconds(FRONT_NS);
	f->busy = seconds(l.busy) / seconds(FRONT_NS);
	f->events = (read_total(b, token) - before) / seconds(FRONT_NS);
}

int growth_measure_front(const struct growth_conf *g, struct growth_front *f, struct err *e)
{
	struct bed b = { .asker = NULL };
	int rc = open_bed(&b, g, 1, e);

	if (!rc)
		measure_front(&b, f);
	return close_bed(&b, rc, e);
}

/* --- speed */

static double processor_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double most_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

int growth_measure_speed(const struct growth_conf *g, nsec_t time, struct growth_speed *out,
			 struct err *e)
{
	struct bed b = { .asker = NULL };
	int rc = open_bed(&b, g, 0, e);
	nsec_t begun;
	double was;

	if (rc)
		return close_bed(&b, rc, e);
	heap_watch(NULL);
	asker_be_ok(b.asker, ":site_attach([]) node_attach([])");
	begun = loop_now(b.w.loop);
	was = processor_seconds();
	while (loop_now(b.w.loop) < begun + time && !b.w.broken[0]) {
		ask_all_hosts(&b);
		pass(&b, SPEED_EVERY_NS);
	}
	out->speedup = seconds(loop_now(b.w.loop) - begun) / (processor_seconds() - was);
	out->mib = most_mib();
	return close_bed(&b, 0, e);
}
