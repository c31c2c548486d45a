/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sensors/sense.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "eventlog/evtype.h"
#include "tools/sensors/sense_out.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024)
#define FIELDS_MAX 8 /* of one event */

enum how {
	NOW, /* the value */
	RATE, /* growth of the counter in a second */
	SHARE, /* growth of the counter, in percent of that of all counters of processor time */
};

/* A field of an event; those of one event are adjacent. */
static const struct figure {
	const char *event, *field, *source; /* source: as omig_node_sample has it */
	enum how how;
	double unit;
} figures[] = {
	{ "host.cpu", "user_percent", "cpu.user", SHARE, 1 },
	{ "host.cpu", "system_percent", "cpu.system", SHARE, 1 },
	{ "host.cpu", "iowait_percent", "cpu.iowait", SHARE, 1 },
	{ "host.cpu", "steal_percent", "cpu.steal", SHARE, 1 },
	{ "host.cpu", "idle_percent", "cpu.idle", SHARE, 1 },
	{ "host.memory", "available_mib", "memory.available", NOW, MIB },
	{ "host.memory", "swap_free_mib", "swap.free", NOW, MIB },
	{ "host.kernel", "interrupts_per_s", "interrupts", RATE, 1 },
	{ "host.kernel", "context_switches_per_s", "context_switches", RATE, 1 },
	{ "host.kernel", "load", "load", NOW, 1 },
	{ "host.disk", "read_mib_per_s", "disk.read", RATE, MIB },
	{ "host.disk", "written_mib_per_s", "disk.written", RATE, MIB },
	{ "host.net", "received_mib_per_s", "net.received", RATE, MIB },
	{ "host.net", "sent_mib_per_s", "net.sent", RATE, MIB },
	{ "host.tcp", "sent_per_s", "tcp.sent", RATE, 1 },
	{ "host.tcp", "retransmitted_per_s", "tcp.retransmitted", RATE, 1 },
	{ "host.pressure", "cpu_percent", "pressure.cpu", NOW, 1 },
	{ "host.pressure", "memory_percent", "pressure.memory", NOW, 1 },
	{ "host.pressure", "io_percent", "pressure.io", NOW, 1 },
};

#define NFIGURES ARRAY_LEN(figures)

/* The values of a sample: host, wall_ns, pairs, left_out, then the connections. */
enum { AT_HOST, AT_WALL, AT_PAIRS, AT_LEFT_OUT, AT_CONNECTIONS };

/* A node's last sample. */
struct sensed {
	int64_t wall; /* 0: there is none */
	double value[NFIGURES]; /* -1: not known */
};

struct sensing {
	struct sense_out *out;
	struct smap nodes; /* token -> struct sensed *, owned */
	int status;
	/* host of the node that is written */
	const char *host;
	int64_t wall;
};

static void put_event(struct sensing *s, const char *name, const struct evfield *field,
		      const struct evvalue *value, unsigned n)
{
	const struct evconst constants[] = {
		{ "HOST", { .kind = EV_STRING, .s = s->host, .n = (uint32_t)strlen(s->host) } },
		{ "PROG", { .kind = EV_STRING, .s = "omig-sense", .n = 10 } },
	};
	const struct evtype type = { .name = name,
				     .level = EV_INFO,
				     .nfield = n,
				     .nconst = ARRAY_LEN(constants),
				     .field = field,
				     .constant = constants };

	if (n && s->status == CMD_OK)
		s->status = sense_out_event(s->out, &(struct event){ .type = &type,
								     .ticks = (uint64_t)s->wall,
								     .wall_ns = s->wall,
								     .value = value });
}

/* --- counters */

static void read_values(const Omis_value *pairs, double value[NFIGURES])
{
	for (size_t i = 0; i < NFIGURES; i++) {
		value[i] = -1;
		for (size_t k = 0; pairs && k < pairs->n; k++) {
			const Omis_value *pair = value_at(pairs, k);

			if (str_eq(value_text(pair, 0), figures[i].source))
				value[i] = value_float(pair, 1);
		}
	}
}

/* Returns the growth since the last sample; negative: unknown. */
static double growth(const struct sensed *last, const struct sensed *now, size_t i)
{
	if (!last->wall || last->value[i] < 0 || now->value[i] < 0)
		return -1;
	return now->value[i] - last->value[i];
}

static double all_shares(const struct sensed *last, const struct sensed *now)
{
	double all = 0;

	for (size_t i = 0; i < NFIGURES; i++)
		if (figures[i].how == SHARE && growth(last, now, i) > 0)
			all += growth(last, now, i);
	return all;
}

/* False: it is not known. */
static bool evaluate(const struct sensed *last, const struct sensed *now, size_t i, double *out)
{
	double seconds = (double)(now->wall - last->wall) * 1e-9, grown = growth(last, now, i);
	double all = figures[i].how == SHARE ? all_shares(last, now) : seconds;

	if (figures[i].how == NOW) {
		*out = now->value[i] / figures[i].unit;
		return now->value[i] >= 0;
	}
	if (grown < 0 || all <= 0)
		return false;
	*out = grown / all / figures[i].unit * (figures[i].how == SHARE ? 100 : 1);
	return true;
}

/* An event has the fields that are known. */
static void put_figures(struct sensing *s, const struct sensed *last, const struct sensed *now)
{
	struct evfield field[FIELDS_MAX];
	struct evvalue value[FIELDS_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < NFIGURES; i++) {
		double v;

		if (evaluate(last, now, i, &v)) {
			field[n] = (struct evfield){ figures[i].field, EV_DOUBLE };
			value[n++] = (struct evvalue){ .kind = EV_DOUBLE, .f64 = v };
		}
		if (i + 1 < NFIGURES && str_eq(figures[i].event, figures[i + 1].event))
			continue;
		put_event(s, figures[i].event, field, value, n);
		n = 0;
	}
}

/* --- connections */

static struct evvalue text_value(const char *text)
{
	return (struct evvalue){ .kind = EV_STRING, .s = text, .n = (uint32_t)strlen(text) };
}

static void put_connection(struct sensing *s, const Omis_value *c)
{
	static const struct evfield field[] = {
		{ "local", EV_STRING },	    { "remote", EV_STRING },	   { "rtt_ms", EV_DOUBLE },
		{ "rttvar_ms", EV_DOUBLE }, { "retransmitted", EV_INT64 }, { "sent", EV_INT64 },
		{ "received", EV_INT64 },
	};
	const struct evvalue value[] = {
		text_value(value_text(c, 0)),
		text_value(value_text(c, 1)),
		{ .kind = EV_DOUBLE, .f64 = value_float(c, 2) * 1e3 },
		{ .kind = EV_DOUBLE, .f64 = value_float(c, 3) * 1e3 },
		{ .kind = EV_INT64, .i64 = value_int(c, 4) },
		{ .kind = EV_INT64, .i64 = value_int(c, 5) },
		{ .kind = EV_INT64, .i64 = value_int(c, 6) },
	};

	put_event(s, "tcp.connection", field, value, ARRAY_LEN(field));
}

/* --- samples */

static struct sensed *last_of(struct sensing *s, const char *token)
{
	struct sensed *last = smap_find(&s->nodes, token);

	if (last)
		return last;
	last = calloc(1, sizeof(*last));
	if (!last || smap_put(&s->nodes, token, last, NULL)) {
		free(last);
		s->status = cmd_fail(CMD_FAILURE, "out of memory");
		return NULL;
	}
	return last;
}

static void take_node(void *arg, const char *token, const Omis_value *v)
{
	struct sensing *s = arg;
	struct sensed *last = last_of(s, token), now;

	if (!last)
		return;
	s->host = value_text(v, AT_HOST);
	s->wall = now.wall = value_int(v, AT_WALL);
	read_values(value_at(v, AT_PAIRS), now.value);
	if (now.wall <= 0)
		return;
	put_figures(s, last, &now);
	for (size_t i = AT_CONNECTIONS; i < v->n; i++)
		put_connection(s, value_at(v, i));
	*last = now;
}

/* A host that does not answer is missing in this sample. */
static int sample(struct sensing *s)
{
	Omis_reply r;
	int rc = session_attach_all();

	rc = rc == CMD_OK ? session_ask(&r, ":omig_node_sample([])") : rc;
	if (rc != CMD_OK)
		return rc;
	if (r[0] && r[1])
		reply_each(r[1], take_node, s);
	omis_reply_free(r);
	return s->status == CMD_OK ? sense_out_flush(s->out) : s->status;
}

static void rest_until(const struct sense_options *w, nsec_t until)
{
	while (!*w->signal && clock_mono() < until)
		session_turn(until - clock_mono(), false);
}

static int run(struct sensing *s, const struct sense_options *w)
{
	nsec_t next = clock_mono(), end = w->for_ns ? next + w->for_ns : INT64_MAX;
	int rc = CMD_OK;

	while (rc == CMD_OK && !*w->signal && next <= end) {
		rc = sample(s);
		next += w->every_ns;
		if (next < clock_mono())
			next = clock_mono(); /* missed samples are not repeated */
		rest_until(w, next < end ? next : end);
	}
	return rc;
}

static void free_nodes(struct smap *nodes)
{
	struct smap_iter i = { 0 };

	while (smap_next(nodes, &i))
		free(i.value);
	smap_done(nodes);
}

int sense(const struct sense_options *w)
{
	struct sensing s = { .status = CMD_OK };
	int rc = session_open(&w->common), end;

	if (rc != CMD_OK)
		return rc;
	smap_init(&s.nodes);
	rc = sense_out_open(w->to, w->common.json, &s.out);
	rc = rc == CMD_OK ? run(&s, w) : rc;
	end = sense_out_close(s.out);
	free_nodes(&s.nodes);
	session_close();
	return rc == CMD_OK ? end : rc;
}
