/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/memory_limits.h"

#include "common/authority/tokens.h"
#include "common/base/limits.h"
#include "lm/service/inbox.h"
#include "sim/rogues/rogue.h"

#include <stdlib.h>

#define LOOK_NS (NSEC_PER_SEC / 2)
#define DAEMON_BASE_BYTES (8 * 1024 * 1024) /* a daemon without load: docs/admin.md, Sizing */
/* Memory that a daemon may keep after all tools and processes have ended: */
/*
 * an lm, for each process that runs or has ended: last values of about 4 KiB (lm/proc/proc.h), in a
 * table that doubles
 */
#define PROC_BYTES (16 * 1024)
/* An sm or mainsm, for each process that was ever below it: its number, token and place. */
#define PROC_ABOVE_BYTES 1024
/* an sm or mainsm, for each host and sm: buffers of a link, which frees larger ones when idle */
#define DAEMON_ABOVE_BYTES 1024
/* a daemon with a link to a rogue: for a frame that announces more data than follow */
#define UNFINISHED_BYTES (2 * FRAME_MAX_BYTES)
/* mainsm, for each valid token: about 700 bytes, in a table that doubles */
#define KEPT_TOKEN_BYTES 2048
/* answers for tools that may repeat a request, and sessions of tools that have left */
#define REMEMBERED_BYTES (2 * INBOX_KEPT_MAX * 1024)

struct memory_limits {
	struct cluster *cluster;
	struct loop_timer *timer;
	size_t *settled; /* by daemon: its memory at that time */
};

/* Daemons are numbered: mainsm, then the sms, then the lms. */
static const struct hostclock *clock_of(const struct cluster *c, unsigned i)
{
	if (i == 0)
		return simtop_clock(c->top);
	i -= 1;
	return i < c->sms ? simsite_clock(c->site[i]) : simnode_clock(c->node[i - c->sms]);
}

static const char *host_of(const struct cluster *c, unsigned i)
{
	if (i == 0)
		return WORLD_TOP;
	i -= 1;
	return i < c->sms ? simsite_host(c->site[i]) : simnode_name(c->node[i - c->sms]);
}

static unsigned count(const struct cluster *c)
{
	return 1 + c->sms + c->conf.hosts;
}

/* --- during the run */

/* Sums over the links of one daemon. */
struct sum {
	struct world *w;
	const char *host;
	size_t tool_queue; /* largest queue towards a tool */
	size_t queued, chans;
};

static void add(void *arg, const struct chan *c)
{
	struct sum *s = arg;
	const struct identity *peer = chan_peer(c);
	bool is_tool = peer && ROLE_BIT(peer->role) & ROLES_TOOL;
	size_t queued = chan_queued(c), most = is_tool ? s->tool_queue : PEER_QUEUE_MAX_BYTES;

	s->queued += queued + mem_chan_heads(c);
	s->chans++;
	if (queued > most)
		world_break(s->w, "INV-15: at %s %zu bytes wait for %s, but the cap is %zu",
			    s->host, queued, chan_remote(c), most);
}

static void look_at(const struct memory_limits *k, unsigned i)
{
	size_t cap = k->cluster->conf.tool_queue;
	struct sum s = { .w = k->cluster->w,
			 .host = host_of(k->cluster, i),
			 .tool_queue = cap ? cap : TOOL_QUEUE_MAX_BYTES };
	size_t has = clock_of(k->cluster, i)->heap->bytes, may;

	mem_net_each_chan(k->cluster->w->net, s.host, add, &s);
	may = DAEMON_BASE_BYTES + s.queued + s.chans * DECODE_HEAP_MAX_BYTES;
	if (has > may)
		world_break(
			k->cluster->w,
			"INV-16: %s has %zu bytes allocated, but with %zu links and %zu queued bytes the limit is %zu",
			s.host, has, s.chans, s.queued, may);
}

/*
 * Checks that an sm has csrs only of tools that it knows. For others it would get no notification
 * of their end.
 */
static void look_at_sm(const struct memory_limits *k, const struct simsite *s)
{
	struct sm_counts n;

	simsite_counts(s, &n);
	if (n.strange)
		world_break(
			k->cluster->w,
			"INV-11: %s has %zu conditional requests of tools that it does not know",
			simsite_host(s), n.strange);
}

/* True for a rogue: its frames bypass the queues, so that its memory is not judged. */
static bool is_rogue(const struct cluster *c, unsigned i)
{
	return rogue_is_on(c->rogue, host_of(c, i));
}

static void on_look(void *arg)
{
	struct memory_limits *k = arg;

	for (unsigned i = 0; i < count(k->cluster); i++)
		if (!is_rogue(k->cluster, i))
			look_at(k, i);
	for (unsigned i = 0; i < k->cluster->sms; i++)
		if (simsite_is_running(k->cluster->site[i]) &&
		    !rogue_has_sm(k->cluster->rogue, k->cluster->site[i]))
			look_at_sm(k, k->cluster->site[i]);
	loop_timer_arm(k->timer, LOOK_NS);
}

int memory_limits_new(struct cluster *c, struct memory_limits **out, struct err *e)
{
	struct memory_limits *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem(e);
	k->cluster = c;
	k->settled = calloc(count(c), sizeof(*k->settled));
	k->timer = loop_timer_new(c->w->loop, on_look, k);
	if (!k->settled || !k->timer) {
		memory_limits_free(k);
		return err_nomem(e);
	}
	for (unsigned i = 0; i < count(c); i++)
		k->settled[i] = clock_of(c, i)->heap->bytes;
	loop_timer_arm(k->timer, LOOK_NS);
	*out = k;
	return 0;
}

void memory_limits_free(struct memory_limits *k)
{
	if (!k)
		return;
	loop_timer_free(k->timer);
	free(k->settled);
	free(k);
}

/* --- after all processes have ended */

/* Returns how many processes have begun on the daemon's host, or on any host below it. */
static size_t procs_below(const struct cluster *c, unsigned i)
{
	unsigned first = 1 + c->sms;
	size_t n = 0;

	for (unsigned k = 0; k < c->conf.hosts; k++)
		n += i < first || i - first == k ? simhost_nproc(simnode_host(c->node[k])) : 0;
	return n;
}

static size_t tokens_of(const struct cluster *c, unsigned i)
{
	return i == 0 && simtop_is_running(c->top)
		       ? tokens_count(simtop_tokens(c->top), world_wall(c->w))
		       : 0;
}

static size_t may_keep(const struct cluster *c, unsigned i)
{
	bool is_above = i < 1 + c->sms;
	size_t proc = is_above ? PROC_ABOVE_BYTES : PROC_BYTES;

	return procs_below(c, i) * proc + tokens_of(c, i) * KEPT_TOKEN_BYTES +
	       (is_above ? (c->conf.hosts + c->sms) * DAEMON_ABOVE_BYTES : 0) + REMEMBERED_BYTES +
	       (c->rogue ? UNFINISHED_BYTES : 0);
}

void memory_limits_judge(const struct memory_limits *k)
{
	for (unsigned i = 0; i < count(k->cluster); i++) {
		size_t has = clock_of(k->cluster, i)->heap->bytes, more = may_keep(k->cluster, i);

		if (!is_rogue(k->cluster, i) && has > k->settled[i] + more)
			world_break(
				k->cluster->w,
				"INV-44: all tools have left, but %s has %zu bytes allocated, and had %zu before; it may have %zu more",
				host_of(k->cluster, i), has, k->settled[i], more);
	}
}
