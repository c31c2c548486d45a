/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/keeper.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "eventlog/evkeep.h"
#include "sim/tools/keptjudge.h"
#include "sim/tools/simtool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUB "run"
#define FILE_NAME "kept.olog"
#define IDEA_NS (200 * NSEC_PER_MSEC) /* mean time between two actions */
#define COMMIT_MAX_NS (400 * NSEC_PER_MSEC)
#define EVENT_NS (30 * NSEC_PER_MSEC)
#define DEADLINE_NS NSEC_PER_SEC
#define DIES_ONE_IN 40 /* fraction of actions in which the keeper is killed */
#define BURST_ONE_IN 50
#define BURST_MAX 60 /* events at once: with SIMRANK_EVENT_MAX bytes each they exceed a ring */
#define LOOKS_MAX 16 /* random choices until a living rank is found */
#define CHATTY_ONE_IN 4 /* fraction of keepers that use programs whose events fill a spool */
#define LANES_MAX 64 /* openings of streams with unacknowledged blocks */
/*
 * Time until all sites have connected. mainsm waits STREAM_RETURN_NS for a site that an earlier
 * mainsm had, and does not name later ones as missing.
 */
#define RETURN_NS (25 * NSEC_PER_SEC)
#define DRAIN_STEP_NS (500 * NSEC_PER_MSEC)
#define DRAIN_MAX_NS (120 * NSEC_PER_SEC)

struct keeper {
	struct keeper_conf conf;
	struct hostclock clock; /* clock of the keeper's host */
	struct loop_timer *idea, *commit, *event;
	struct rng dice;
	struct simtool *tool; /* NULL: the tool is dead */
	struct evkeep *file; /* open while the tool lives */
	struct evbalance balance;
	uint64_t epoch, asked; /* asked: id of the request that waits for an answer; 0: none */
	bool is_kept; /* a reply has confirmed the subscription, which has not ended since */
	bool is_ending, has_ended;
	bool is_chatty;
	const char *policy;
	struct {
		uint64_t stream, place;
	} lane[LANES_MAX];
	size_t nlane;
};

static struct world *world_of(const struct keeper *k)
{
	return k->conf.cluster->w;
}

/* --- received messages */

static void on_commit(void *arg)
{
	struct keeper *k = arg;
	struct err e = { 0 };

	if (!k->tool || !k->nlane)
		return;
	if (evkeep_commit(k->file, &e) < 0)
		world_break(world_of(k), "the keeper's file: %s", e.text);
	for (size_t i = 0; i < k->nlane; i++)
		simtool_ack(k->tool,
			    &(struct msg_events_ack){ SUB, k->lane[i].stream, k->lane[i].place });
	k->nlane = 0;
}

static void note_place(struct keeper *k, uint64_t stream, uint64_t place)
{
	size_t i = 0;

	while (i < k->nlane && k->lane[i].stream != stream)
		i++;
	if (i == LANES_MAX)
		return; /* the tool will send it again */
	k->lane[i].stream = stream;
	k->lane[i].place = place;
	k->nlane += i == k->nlane;
	if (!loop_timer_is_armed(k->commit))
		loop_timer_arm(k->commit, (nsec_t)rng_below(&k->dice, COMMIT_MAX_NS));
}

static void take_blocks(struct keeper *k, const uint8_t *p, size_t n)
{
	struct evbalance_stream *of;
	struct evblock b;
	struct err e = { 0 };
	int got = 0;

	for (size_t at = 0; at < n && got >= 0; at += b.bytes) {
		if (evblock_look(p + at, n - at, &b) != EVBLOCK_GOOD) {
			world_break(world_of(k),
				    "INV-22: the subscription sends bytes that are not a block");
			return;
		}
		got = evbalance_block(&k->balance, p + at, &b, &of, &e);
		if (got == 1)
			got = evkeep_put(k->file, p + at, b.bytes, &e);
	}
	if (got < 0)
		world_break(world_of(k), "the keeper's file: %s", e.text);
}

static void on_events(void *arg, const struct msg_events *m)
{
	struct keeper *k = arg;

	if (m->blocks.n) {
		take_blocks(k, m->blocks.p, m->blocks.n);
		note_place(k, m->stream, m->place);
	}
	if (!m->end)
		return;
	log_info("sim", "the subscription ends, missing=\"%s\"", m->missing);
	k->is_kept = false;
	k->has_ended = k->is_ending && !m->missing[0];
}

/* --- requests */

static void ask(struct keeper *k, const char *text)
{
	k->asked = simtool_ask(k->tool,
			       &(struct simtool_ask){ .text = text, .deadline = DEADLINE_NS });
	k->conf.ledger->counts.requests += k->asked != 0;
}

static void keep(struct keeper *k)
{
	char text[160];

	snprintf(text, sizeof(text),
		 ":omig_events_keep(\"" SUB "\",[\"" SIMRANK_EVENT
		 "\"],\"\",0,[\"policy\",\"%s\",\"mb\",2])",
		 k->policy);
	ask(k, text);
}

static void on_reply(void *arg, const struct reply *r)
{
	struct keeper *k = arg;

	if (r->kind || r->id != k->asked)
		return;
	k->conf.ledger->counts.answers++;
	k->asked = 0;
	k->is_kept = r->nentry && !r->entry[0].status;
}

static void on_up(void *arg)
{
}

static void on_down(void *arg)
{
	struct keeper *k = arg;

	k->asked = 0;
	k->is_kept = false;
	k->nlane = 0;
}

/* --- connections */

static int come(struct keeper *k, struct err *e)
{
	const struct simtool_conf c = { .w = world_of(k),
					.loop = k->clock.loop,
					.name = k->conf.name,
					.role = ROLE_TOOL_OBSERVE,
					.epoch = ++k->epoch,
					.on_reply = on_reply,
					.on_events = on_events,
					.on_up = on_up,
					.on_down = on_down,
					.arg = k };
	int got;

	evbalance_init(&k->balance);
	got = evkeep_open(FILE_NAME, &k->balance, &k->file, e);
	return got < 0 ? got : simtool_new(&c, &k->tool, e);
}

/* Kills the tool: uncommitted blocks may be in the file, or not. */
static void die(struct keeper *k)
{
	simtool_free(k->tool);
	k->tool = NULL;
	evkeep_close(k->file);
	k->file = NULL;
	evbalance_done(&k->balance);
	on_down(k);
}

static void have_idea(struct keeper *k)
{
	simtool_check(k->tool, k->conf.slow);
	if (!simtool_is_up(k->tool) || k->asked || k->has_ended)
		return;
	if (!k->is_kept)
		keep(k);
	else if (k->is_ending)
		ask(k, ":omig_events_unkeep(\"" SUB "\",1)");
	if (!k->is_ending && !rng_below(&k->dice, DIES_ONE_IN))
		die(k);
}

static void on_idea(void *arg)
{
	struct keeper *k = arg;
	struct err e = { 0 };

	if (k->tool)
		have_idea(k);
	else if (come(k, &e) < 0)
		world_break(world_of(k), "the keeper cannot start: %s", e.text);
	loop_timer_arm(k->idea, 1 + (nsec_t)rng_below(&k->dice, 2 * IDEA_NS));
}

/* --- events of programs */

static const struct simproc *any_rank(struct keeper *k)
{
	const struct simproc *p = NULL;

	for (int i = 0; i < LOOKS_MAX && !(p && p->is_alive && !p->is_stopped); i++)
		p = cluster_rank(k->conf.cluster, (int64_t)rng_below(&k->dice, k->conf.ledger->n));
	return p && p->is_alive && !p->is_stopped ? p : NULL;
}

static void on_event(void *arg)
{
	struct keeper *k = arg;
	const struct simproc *p = any_rank(k);
	bool is_burst = k->is_chatty || !rng_below(&k->dice, BURST_ONE_IN);
	uint64_t n = 1 + rng_below(&k->dice, is_burst ? BURST_MAX : 4);

	for (; p && n; n--)
		simrank_event(p->mpi, rng_below(&k->dice, is_burst ? SIMRANK_EVENT_MAX : 20));
	loop_timer_arm(k->event, (nsec_t)rng_below(&k->dice, 2 * EVENT_NS));
}

int keeper_new(const struct keeper_conf *c, struct keeper **out, struct err *e)
{
	static const char *const policy[] = { "drop_oldest", "drop_newest", "stop" };
	struct keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem(e);
	k->conf = *c;
	rng_init(&k->dice, rng_next(&c->cluster->w->dice));
	k->policy = policy[rng_below(&k->dice, ARRAY_LEN(policy))];
	k->is_chatty = !rng_below(&k->dice, CHATTY_ONE_IN);
	k->event = loop_timer_new(c->cluster->w->loop, on_event, k);
	if (!hostclock_open(c->cluster->w, c->name, &k->clock)) {
		k->idea = loop_timer_new(k->clock.loop, on_idea, k);
		k->commit = loop_timer_new(k->clock.loop, on_commit, k);
	}
	if (!k->idea || !k->commit || !k->event) {
		keeper_free(k);
		return err_nomem(e);
	}
	loop_timer_arm(k->idea, 0);
	loop_timer_arm(k->event, 0);
	*out = k;
	return 0;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	die(k);
	loop_timer_free(k->idea);
	loop_timer_free(k->commit);
	loop_timer_free(k->event);
	free(k);
}

/* --- the end */

static void drain(struct keeper *k)
{
	struct world *w = world_of(k);

	loop_advance(w->loop, RETURN_NS);
	k->is_ending = true;
	for (nsec_t t = 0; t < DRAIN_MAX_NS && !k->has_ended && !w->broken[0]; t += DRAIN_STEP_NS)
		loop_advance(w->loop, DRAIN_STEP_NS);
	if (!k->has_ended)
		world_break(w,
			    "INV-21: all faults are repaired, but the subscription does not end");
}

void keeper_finish(struct keeper *k)
{
	struct world *w = world_of(k);

	loop_timer_cancel(k->event);
	drain(k);
	loop_timer_cancel(k->idea);
	if (!w->broken[0])
		on_commit(k);
	if (!w->broken[0])
		keptjudge(k->conf.cluster, FILE_NAME, &k->balance, k->conf.with_faults,
			  &k->conf.ledger->counts);
	die(k);
}
