/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/user.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "proto/msg.h"
#include "sim/rogues/rogue.h"
#include "sim/tools/answers.h"
#include "sim/tools/simtool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 256
#define DEADLINE_NS NSEC_PER_SEC
#define AGAIN_NS (200 * NSEC_PER_MSEC) /* time before a request with the same id is sent again */
#define SENDS_MAX 4 /* attempts with one id */
#define STAND_ONE_IN 240 /* fraction of actions */
/* longer than mainsm tolerates a tool that does not read */
#define STAND_MAX_NS (20 * NSEC_PER_SEC)
#define MUCH_ONE_IN 2 /* fraction of those stops that follow large requests */
#define MUCH_CALLS 400 /* calls in such a request, whose answer has half a MiB */
#define MUCH_TIMES 8 /* number of such requests */
#define CSRS_MAX 4
/* pending definitions of a kind: more than a user requests before the first answer */
#define HOLDS_MAX 32
#define READS_MAX 2
#define TOKEN_ROOM 40
#define EVENT "thread_has_started_lib_call([],\"MPI_Send\"):"
#define PRINT "print([$proc,$par1,$par8])"
#define PRINT_BEHIND 2 /* index of the print behind the actions that hold the process */

/* A manipulation, which is repeated until its outcome is known. */
struct errand {
	uint64_t id; /* 0: no manipulation */
	uint32_t rank;
	unsigned sends;
	bool is_open; /* the last request has no answer yet */
	nsec_t again_at;
	char text[TEXT_BYTES];
};

struct csr {
	char token[TOKEN_ROOM]; /* "": unused */
	struct seen *seen; /* by rank; owned */
	bool is_holding; /* the process waits until its actions are done */
};

struct measured {
	char token[TOKEN_ROOM]; /* "": unused */
	struct answers_measured m;
	uint64_t start_id, read_id; /* ids of the last requests */
};

struct user {
	struct user_conf conf;
	struct simtool *tool;
	struct hostclock clock; /* clock of the user's host */
	struct loop_timer *timer;
	struct rng dice;
	struct errand errand;
	struct csr csr[CSRS_MAX];
	struct measured dfg[READS_MAX];
	/* ids of the last requests for measurements with values since the last read */
	uint64_t parts_id[HOLDS_MAX];
	unsigned nparts;
	uint64_t epoch;
	uint64_t hold_id[HOLDS_MAX]; /* ids of the last requests for csrs that hold the process */
	unsigned nhold;
	/* since the connection began: some measured objects were not measured from the start */
	bool has_detached;
	bool has_enough; /* the tool has requested more replies than it reads */
};

static uint64_t report(struct user *u, const char *text)
{
	uint64_t id = simtool_ask(u->tool,
				  &(struct simtool_ask){ .text = text, .deadline = DEADLINE_NS });

	u->conf.ledger->counts.requests += id != 0;
	return id;
}

static void attach(struct user *u)
{
	report(u, ":site_attach([]) node_attach([]) proc_attach([])");
}

/* --- requests repeated until they succeed */

static void errand_send(struct user *u)
{
	struct errand *d = &u->errand;
	struct simtool_ask q = { .text = d->text,
				 .id = d->id,
				 .deadline = DEADLINE_NS,
				 .flags = d->sends + 1 == SENDS_MAX ? MSG_REQUEST_OUTCOME : 0 };

	attach(u);
	if (!simtool_ask(u->tool, &q))
		return;
	u->conf.ledger->counts.requests++;
	u->conf.ledger->counts.repeats += d->sends > 0;
	d->sends++;
	d->is_open = true;
}

static void errand_over(struct user *u, enum verdict v)
{
	struct ledger *l = u->conf.ledger;

	l->done[u->errand.rank] += v == VERDICT_DONE;
	l->unknown[u->errand.rank] += v == VERDICT_UNKNOWN && u->conf.may_manipulate;
	u->errand.id = 0;
}

static void errand_answered(struct user *u, const struct reply *r)
{
	struct errand *d = &u->errand;
	enum verdict v = verdict_of(r);

	bool is_judged = !rogue_has_host(u->conf.cluster->rogue,
					 u->conf.cluster->node[d->rank / CLUSTER_RANKS_MAX]);

	d->is_open = false;
	d->again_at = loop_now(u->conf.cluster->w->loop) + AGAIN_NS;
	if (v == VERDICT_DONE && !u->conf.may_manipulate && is_judged)
		world_break(u->conf.cluster->w,
			    "INV-12: a tool that may only observe got `done` for its signal");
	if (v == VERDICT_DONE || d->sends >= SENDS_MAX)
		errand_over(u, v);
}

static void errand_begin(struct user *u)
{
	struct errand *d = &u->errand;
	uint64_t rank = rng_below(&u->dice, u->conf.ledger->n);
	const struct simproc *p = cluster_rank(u->conf.cluster, (int64_t)rank);

	if (d->id || !p || !p->token[0])
		return;
	*d = (struct errand){ .rank = (uint32_t)rank };
	snprintf(d->text, sizeof(d->text),
		 rng_below(&u->dice, 3) ? ":proc_send_signal([%s],%d)"
					: ":{proc_send_signal([%s],%d)}",
		 p->token, SIMHOST_COUNTED_SIGNAL);
	d->id = simtool_next_id(u->tool);
	u->conf.ledger->counts.manipulations++;
	u->conf.ledger->asked[rank] += u->conf.may_manipulate;
	errand_send(u);
}

static bool is_among(const uint64_t *ids, uint64_t id)
{
	for (int i = 0; i < HOLDS_MAX; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* --- conditional requests */

static struct csr *csr_of(struct user *u, const char *token)
{
	for (int i = 0; i < CSRS_MAX; i++)
		if (str_eq(u->csr[i].token, token))
			return &u->csr[i];
	return NULL;
}

static void csr_drop(struct csr *c)
{
	free(c->seen);
	*c = (struct csr){ 0 };
}

static void define(struct user *u)
{
	bool hold = u->conf.may_manipulate && !rng_below(&u->dice, 3);
	uint64_t id;

	if (!csr_of(u, ""))
		return;
	id = report(u, hold ? EVENT " thread_suspend([]) " PRINT " thread_resume([])"
			    : EVENT " " PRINT);
	if (hold)
		u->hold_id[u->nhold++ % HOLDS_MAX] = id;
}

static void on_defined(struct user *u, const struct reply *r)
{
	struct csr *c = csr_of(u, "");
	char text[TEXT_BYTES];

	if (!c)
		return;
	c->seen = calloc(u->conf.ledger->n, sizeof(*c->seen));
	if (!c->seen)
		return;
	c->is_holding = is_among(u->hold_id, r->id);
	str_copy(c->token, sizeof(c->token), r->csr);
	snprintf(text, sizeof(text), ":csr_enable([%s])", c->token);
	report(u, text);
}

static void undefine(struct user *u)
{
	struct csr *c = &u->csr[rng_below(&u->dice, CSRS_MAX)];
	char text[TEXT_BYTES];

	if (!c->token[0])
		return;
	snprintf(text, sizeof(text), ":%s([%s])",
		 rng_below(&u->dice, 3) ? "csr_delete" : "csr_disable", c->token);
	report(u, text);
	if (text[5] == 'd' && text[6] == 'e')
		csr_drop(c);
}

static void on_triggered(struct user *u, const struct reply *r)
{
	struct csr *c = csr_of(u, r->csr);

	u->conf.ledger->counts.triggers++;
	for (size_t i = 0; c && i < r->nentry; i++)
		if (!r->entry[i].status && r->entry[i].action ==
						   /* other entries come from the hosts */
						   (c->is_holding ? PRINT_BEHIND : 1))
			answers_check_trigger(u->conf.cluster, r->entry[i].value, !c->is_holding,
					      c->seen);
}

/* --- measurements */

static struct measured *measured_of(struct user *u, const char *token)
{
	for (int i = 0; i < READS_MAX; i++)
		if (str_eq(u->dfg[i].token, token))
			return &u->dfg[i];
	return NULL;
}

static void measure(struct user *u)
{
	static const char *const by[] = { "", ",\"by\",\"process\"", ",\"by\",\"node\"",
					  ",\"by\",\"site\"" };
	bool is_last = !rng_below(&u->dice, 2);
	char text[TEXT_BYTES];
	uint64_t id;

	if (!measured_of(u, ""))
		return;
	snprintf(text, sizeof(text),
		 ":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",%d,\"mode\",\"%s\"%s])",
		 rng_below(&u->dice, 2) ? 0 : 500, is_last ? "last" : "start",
		 by[rng_below(&u->dice, ARRAY_LEN(by))]);
	id = report(u, text);
	if (is_last)
		u->parts_id[u->nparts++ % HOLDS_MAX] = id;
}

static void read_one(struct user *u)
{
	struct measured *m = &u->dfg[rng_below(&u->dice, READS_MAX)];
	char text[TEXT_BYTES];

	if (!m->token[0])
		return;
	snprintf(text, sizeof(text), ":%s([%s])",
		 rng_below(&u->dice, 6) ? "dfg_read" : "dfg_delete", m->token);
	m->m.asked = loop_now(u->conf.cluster->w->loop);
	m->read_id = report(u, text);
	if (strstr(text, "delete"))
		m->token[0] = 0;
}

static void on_measurement(struct user *u, const char *token, uint64_t id)
{
	struct measured *m = measured_of(u, "");
	char text[TEXT_BYTES];

	if (m) {
		*m = (struct measured){ .m = { .from = loop_now(u->conf.cluster->w->loop),
					       .is_last = is_among(u->parts_id, id) } };
		str_copy(m->token, sizeof(m->token), token);
	}
	snprintf(text, sizeof(text), ":dfg_start([%s])", token);
	if (m)
		m->start_id = report(u, text);
}

/*
 * Notes the start. With faults the measurement may not have begun on all hosts, so nothing is
 * noted.
 */
static void note_begun(struct user *u, const struct reply *r)
{
	for (int i = 0; i < READS_MAX; i++)
		if (u->dfg[i].start_id == r->id && !u->conf.slow && !u->has_detached &&
		    reply_status(r) == STATUS_OK)
			u->dfg[i].m.begun = loop_now(u->conf.cluster->w->loop);
}

static void on_values(struct user *u, const struct reply_entry *x, uint64_t id)
{
	struct measured *m = measured_of(u, x->objects);

	if (m && id != m->read_id)
		m->m.asked = 0; /* the reply is not about the last requested read */
	if (m && x->value[0])
		u->conf.ledger->counts.reads +=
			answers_check_read(u->conf.cluster, x->value, &m->m);
}

/* --- answers */

static void on_answer(struct user *u, const struct reply *r)
{
	if (u->errand.id && r->id == u->errand.id) {
		errand_answered(u, r);
		return;
	}
	note_begun(u, r);
	for (size_t i = 0; i < r->nentry; i++) {
		const struct reply_entry *x = &r->entry[i];

		if (x->status)
			continue;
		if (!strncmp(x->objects, "p_", 2) && !strchr(x->objects, ',') &&
		    strchr(x->value, ','))
			u->conf.ledger->counts.infos +=
				answers_check_proc(u->conf.cluster, x->objects, x->value);
		else if (!strncmp(x->value, "d_", 2) && !strchr(x->value, ','))
			on_measurement(u, x->value, r->id);
		else if (!strncmp(x->objects, "d_", 2))
			on_values(u, x, r->id);
	}
}

static void on_reply(void *arg, const struct reply *r)
{
	struct user *u = arg;

	u->conf.ledger->counts.answers += !r->kind;
	rogue_check(u->conf.cluster->rogue, r);
	if (!r->kind)
		on_answer(u, r);
	else if (r->kind == STATUS_CSR_DEFINED)
		on_defined(u, r);
	else if (r->kind == STATUS_CSR_TRIGGERED)
		on_triggered(u, r);
	else if (r->kind == STATUS_CSR_DELETED && csr_of(u, r->csr))
		csr_drop(csr_of(u, r->csr));
}

static void forget(struct user *u)
{
	for (int i = 0; i < CSRS_MAX; i++)
		csr_drop(&u->csr[i]);
	for (int i = 0; i < READS_MAX; i++)
		u->dfg[i].token[0] = 0;
}

static void on_up(void *arg)
{
	attach(arg);
}

static void on_down(void *arg)
{
	struct user *u = arg;

	forget(u);
	u->conf.ledger->counts.lost += u->errand.is_open;
	u->errand.is_open = false;
}

/* --- random actions */

static void control(struct user *u)
{
	static const char *const what[] = { ":thread_stop([])",
					    ":thread_suspend([])",
					    ":{thread_suspend([])}",
					    ":thread_continue([])",
					    ":{thread_stop([]) ; thread_continue([])}",
					    ":thread_suspend([]) thread_resume([])",
					    ":thread_resume([])" };

	report(u, what[rng_below(&u->dice, ARRAY_LEN(what))]);
}

static void look(struct user *u)
{
	static const char *const what[] = {
		":proc_get_info([],513)",
		":proc_get_info([],513)",
		":node_get_info([],1)",
		":thread_get_info([],256)",
		":{node_get_info([],1)}",
		":proc_get_info([],513) ; node_get_info([],1)",
		":proc_get_info([]",
		":dfg_list()",
		":proc_detach([])",
		":node_detach([]) site_attach([]) node_attach([]) proc_attach([])"
	};

	const char *text = what[rng_below(&u->dice, ARRAY_LEN(what))];

	if (strstr(text, "detach")) {
		u->has_detached = true;
		for (int i = 0; i < READS_MAX; i++)
			u->dfg[i].m.begun = 0;
	}
	report(u, text);
}

static int come(struct user *u)
{
	const struct simtool_conf c = { .w = u->conf.cluster->w,
					.loop = u->clock.loop,
					.name = u->conf.name,
					.role = u->conf.may_manipulate ? ROLE_TOOL_MANIPULATE
								       : ROLE_TOOL_OBSERVE,
					.epoch = ++u->epoch,
					.on_reply = on_reply,
					.on_up = on_up,
					.on_down = on_down,
					.arg = u };

	return simtool_new(&c, &u->tool, NULL);
}

static void leave(struct user *u)
{
	simtool_free(u->tool);
	u->tool = NULL;
	u->has_enough = u->has_detached = false;
	forget(u);
	if (u->errand.id)
		errand_over(u, VERDICT_UNKNOWN);
}

static void have_idea(struct user *u)
{
	switch (rng_below(&u->dice, 12)) {
	case 0:
		control(u);
		break;
	case 1:
		report(u, ":thread_continue([]) thread_resume([])");
		break;
	case 2:
	case 3:
		define(u);
		break;
	case 4:
		undefine(u);
		break;
	case 5:
		measure(u);
		break;
	case 6:
	case 7:
		read_one(u);
		break;
	case 8:
	case 9:
		errand_begin(u);
		break;
	default:
		look(u);
	}
}

/*
 * Requests more than mainsm queues for a tool that does not read. The tool leaves when it
 * continues.
 */
static void ask_much(struct user *u)
{
	struct buf text = BUF_INIT(OMIS_REQUEST_MAX_BYTES);

	buf_printf(&text, ":");
	for (int i = 0; i < MUCH_CALLS; i++)
		buf_printf(&text, "services(\"\") ");
	for (int i = 0; i < MUCH_TIMES; i++)
		report(u, buf_str(&text));
	buf_done(&text);
	u->has_enough = true;
}

/* Acts as a program that computes, or whose terminal is stopped: it reads nothing meanwhile. */
static void stand_still(struct user *u)
{
	nsec_t time = (nsec_t)rng_below(&u->dice, STAND_MAX_NS);

	u->conf.ledger->counts.pauses++;
	if (!rng_below(&u->dice, MUCH_ONE_IN))
		ask_much(u);
	simtool_stand(u->tool, time);
	loop_part_hold(u->clock.loop, time);
}

static void do_something(struct user *u)
{
	nsec_t now = loop_now(u->conf.cluster->w->loop);

	if (u->has_enough) {
		leave(u);
		return;
	}
	simtool_check(u->tool, u->conf.slow);
	if (!simtool_is_up(u->tool))
		return;
	if (u->errand.id && !u->errand.is_open && now >= u->errand.again_at)
		errand_send(u);
	have_idea(u);
	if (u->conf.slow && !rng_below(&u->dice, STAND_ONE_IN))
		stand_still(u);
	if (!rng_below(&u->dice, 40))
		leave(u);
}

static void on_timer(void *arg)
{
	struct user *u = arg;

	if (u->tool)
		do_something(u);
	else if (come(u))
		world_break(u->conf.cluster->w, "a tool cannot start");
	loop_timer_arm(u->timer, 1 + (nsec_t)rng_below(&u->dice, (uint64_t)(2 * u->conf.pause)));
}

int user_new(const struct user_conf *c, struct user **out, struct err *e)
{
	struct user *u = calloc(1, sizeof(*u));

	if (!u)
		return err_nomem(e);
	u->conf = *c;
	rng_init(&u->dice, rng_next(&c->cluster->w->dice));
	if (!hostclock_open(c->cluster->w, c->name, &u->clock))
		u->timer = loop_timer_new(u->clock.loop, on_timer, u);
	if (!u->timer) {
		user_free(u);
		return err_nomem(e);
	}
	loop_timer_arm(u->timer, 0);
	*out = u;
	return 0;
}

void user_free(struct user *u)
{
	if (!u)
		return;
	leave(u);
	loop_timer_free(u->timer);
	if (u->clock.loop)
		loop_part_release(u->clock.loop);
	free(u);
}
