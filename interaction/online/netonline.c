/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netonline.h"

#include "interaction/online/netcontract.h"
#include "interaction/online/netsenders.h"

#include <stdlib.h>

/*
 * The limit of stored sets of objects in use; then all are dropped. A hostile peer can send any
 * number.
 */
#define USES_MAX 65536
/*
 * The sub-tasks that were sent, in two maps: later events of such a sub-task are not its first
 * ones.
 */
#define SENT_MAX 65536

struct netonline {
	struct netonline_plan plan;
	struct netuse *use;
	struct map sent[2]; /* sub-tasks that were sent upwards; a full one replaces the older */
	uint32_t objects;
	struct netsplit *split;
	struct netsenders senders;
	struct netarc arc; /* the one being read */
	uint32_t place; /* of the last event */
	struct buf batch; /* under construction */
	struct netarc_head head;
	uint64_t batch_arcs;
	uint64_t lost; /* events of this host */
	struct netonline_report report;
	struct nettotal total;
};

/* --- upwards */

static uint64_t losses(const struct netonline *o)
{
	return o->lost + netsenders_losses(&o->senders).events;
}

static void begin_batch(struct netonline *o, int64_t base)
{
	buf_clear(&o->batch);
	o->head.number++;
	o->head.base = base;
	o->head.lost = losses(o);
	netarc_put_head(&o->batch, &o->head);
}

static void send_batch(struct netonline *o)
{
	o->plan.send(o->plan.arg, buf_bytes(&o->batch));
	o->report.sent_batches++;
	o->report.sent_bytes += o->batch.n;
	o->report.sent_arcs += o->batch_arcs;
	o->head.before += o->batch_arcs;
	o->batch_arcs = 0;
	buf_clear(&o->batch);
}

/* Losses are sent also when there is no arc. */
static void flush(struct netonline *o)
{
	if (!o->batch_arcs && losses(o) == o->head.lost)
		return;
	if (!o->batch_arcs)
		begin_batch(o, 0);
	send_batch(o);
}

/* The part that is being sent. */
struct upwards {
	struct netonline *o;
	const char *name;
};

static int send_event(void *arg, const struct network_event *ev, struct err *e)
{
	struct upwards *up = arg;
	struct netonline *o = up->o;
	int rc;

	if (!o->batch_arcs)
		begin_batch(o, ev->t);
	rc = netarc_put(&o->batch, o->head.base, ev, ev->kind == NETWORK_SOURCE ? up->name : NULL);
	if (rc || o->batch.failed)
		return err_nomem(e);
	o->batch_arcs++;
	if (o->batch.n > NETARC_BATCH_BYTES / 2)
		send_batch(o);
	return 0;
}

/* Sends events that a network refuses: they make the interaction wrong at the parent, too. */
static int send_wrong(struct upwards *up, const struct network *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < w->ntask && !rc; i++) {
		struct network_event ev = { .kind = NETWORK_FORK,
					    .task = w->task[i].id,
					    .other = w->task[i].id,
					    .node = NETWORK_NONE };

		rc = send_event(up, &ev, e);
	}
	return rc;
}

static bool was_sent(void *arg, uint64_t task)
{
	struct netonline *o = arg;

	return map_find(&o->sent[0], task) || map_find(&o->sent[1], task);
}

/*
 * Stores that the sub-task was sent. Later events of a dropped entry appear as torn or stray at
 * the top.
 */
static void note_sent(struct netonline *o, const struct network *w)
{
	for (size_t i = 0; i < w->ntask; i++) {
		if (o->sent[0].n >= SENT_MAX) {
			map_done(&o->sent[1]);
			o->sent[1] = o->sent[0];
			map_init(&o->sent[0]);
		}
		if (w->task[i].ender == NETWORK_NONE || w->task[i].creator == NETWORK_NONE)
			map_put(&o->sent[0], w->task[i].id, o, NULL);
	}
}

static int send_part(struct netonline *o, const struct netsplit_part *p, struct err *e)
{
	struct upwards up = { o, p->name };
	struct netcontract_plan plan = { o->plan.is_lowest, was_sent, o };
	int rc;

	o->report.early += p->why && p->outcome == NETSPLIT_INCOMPLETE;
	if (p->outcome == NETSPLIT_WRONG)
		return send_wrong(&up, p->w, e);
	rc = netcontract_run(p->w, &plan, send_event, &up, e);
	note_sent(o, p->w);
	return rc;
}

/* --- at the top */

static int add_whole(struct netonline *o, const struct netsplit_part *p, struct err *e)
{
	struct netanalysis a;
	struct err why = { 0 };
	int rc = netuse_count(o->use) > USES_MAX ? netuse_forget(o->use) : 0;

	rc = rc ? rc : network_build(p->w, &why);
	rc = rc ? rc : netanalysis_run(p->w, &a, &why);
	if (rc) {
		o->report.torn += rc == -ERR_EXISTS;
		o->report.wrong += rc != -ERR_NOMEM && rc != -ERR_EXISTS;
		return rc == -ERR_NOMEM ? err_nomem(e) : 0;
	}
	rc = nettotal_add(&o->total, p->name, p->w, &a, &why);
	o->report.wrong += rc == -ERR_LIMIT;
	if (!rc && o->plan.whole && a.spent.is_member)
		o->plan.whole(o->plan.arg, p->name, p->w, &a);
	netanalysis_done(&a);
	return rc == -ERR_NOMEM ? err_nomem(e) : 0;
}

static int close_part(struct netonline *o, const struct netsplit_part *p, struct err *e)
{
	if (p->outcome == NETSPLIT_WHOLE)
		return add_whole(o, p, e);
	if (p->outcome == NETSPLIT_WRONG)
		o->report.wrong++;
	else if (p->why)
		o->report.evicted++;
	else if (p->w->v0 == NETWORK_NONE)
		o->report.strays++;
	else
		o->report.incomplete++;
	return 0;
}

static int on_part(void *arg, const struct netsplit_part *p, struct err *e)
{
	struct netonline *o = arg;

	return o->plan.send ? send_part(o, p, e) : close_part(o, p, e);
}

/* --- the object */

int netonline_new(struct netuse **take, const struct netonline_plan *plan, struct netonline **out,
		  struct err *e)
{
	struct netonline *o;

	if (netuse_objects(*take) > NETCONTRACT_OBJECTS_MAX)
		return err_set(e, ERR_LIMIT, "states and sets name more than %d objects",
			       NETCONTRACT_OBJECTS_MAX);
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_nomem(e);
	o->plan = *plan;
	o->use = *take;
	o->objects = netuse_objects(*take);
	o->head.sender = plan->sender;
	o->batch = BUF_INIT(2 * NETARC_BATCH_BYTES);
	netsenders_init(&o->senders);
	map_init(&o->sent[0]);
	map_init(&o->sent[1]);
	nettotal_init(&o->total);
	o->split = netsplit_new(o->use, plan->most, on_part, o);
	if (!o->split) {
		o->use = NULL;
		netonline_free(o);
		return err_nomem(e);
	}
	netsplit_live(o->split, plan->send ? INT64_MAX : plan->grace_ns);
	*take = NULL;
	*out = o;
	return 0;
}

void netonline_free(struct netonline *o)
{
	if (!o)
		return;
	netsplit_free(o->split);
	netuse_free(o->use);
	netsenders_done(&o->senders);
	map_done(&o->sent[0]);
	map_done(&o->sent[1]);
	nettotal_done(&o->total);
	buf_done(&o->batch);
	free(o);
}

/* Removes uses of undeclared objects; false if too many are left. */
static bool keep_declared(struct netonline *o, const struct network_event *ev)
{
	struct netarc *a = &o->arc;

	a->ev = *ev;
	a->ev.use = a->use;
	a->ev.nuse = 0;
	a->ev.name = NULL;
	for (size_t i = 0; i < ev->nuse; i++) {
		bool is_known = ev->use[i].object < o->objects &&
				(!ev->use[i].is_child || ev->kind == NETWORK_FORK);

		if (is_known && a->ev.nuse == NETARC_USES_MAX)
			return false;
		if (is_known)
			a->use[a->ev.nuse++] = ev->use[i];
	}
	return true;
}

void netonline_lose(struct netonline *o, uint64_t n)
{
	o->lost += n;
}

static int add(struct netonline *o, const char *name, struct err *e)
{
	o->arc.ev.place = ++o->place;
	return netsplit_add(o->split, &o->arc.ev, name, e);
}

int netonline_add(struct netonline *o, const struct network_event *ev, const char *name,
		  struct err *e)
{
	if (!keep_declared(o, ev)) {
		o->lost++;
		return 0;
	}
	o->report.events++;
	if (o->plan.is_plain) {
		struct upwards up = { o, name };

		return send_event(&up, &o->arc.ev, e);
	}
	return add(o, name, e);
}

int netonline_take(struct netonline *o, struct bytes batch, struct err *e)
{
	struct netsender *sender;
	struct netarc_reader r;
	uint64_t n = 0;
	int rc = netarc_open(&r, batch, o->objects, e), is_new, got = 1;

	if (rc) {
		o->report.batches_bad++;
		return rc;
	}
	is_new = netsenders_take(&o->senders, &r.head, &sender);
	if (is_new < 0)
		return err_set(e, (enum err_code) - is_new, "no room for another sender");
	if (!is_new)
		return 0;
	for (; !rc && (got = netarc_next(&r, &o->arc, e)) == 1; n++)
		rc = add(o, o->arc.name, e);
	o->report.batches++;
	o->report.batches_bad += got < 0;
	o->report.arcs += n;
	netsenders_count(sender, &r.head, n);
	return rc ? rc : got;
}

int netonline_tick(struct netonline *o, int64_t now, struct err *e)
{
	const struct netonline_plan *p = &o->plan;
	int rc = netsplit_tick(o->split, now, e);

	if (rc)
		return rc;
	rc = p->send ? netsplit_give_older(o->split, now - p->idle_ns, now - p->age_ns, e)
		     : netsplit_give_older(o->split, now - p->timeout_ns, INT64_MIN, e);
	if (p->send)
		flush(o);
	return rc;
}

int netonline_end(struct netonline *o, struct err *e)
{
	int rc = netsplit_end(o->split, e);

	if (o->plan.send)
		flush(o);
	return rc;
}

struct netonline_report netonline_report(const struct netonline *o)
{
	struct netsenders_losses below = netsenders_losses(&o->senders);
	struct netonline_report r = o->report;

	r.events_repeated = netsplit_report(o->split)->repeated;
	r.batches_repeated = o->senders.repeated;
	r.batches_lost = below.batches;
	r.arcs_lost = below.arcs;
	r.events_lost = o->lost + below.events;
	return r;
}

struct nettotal *netonline_total(struct netonline *o)
{
	return &o->total;
}

const struct netuse *netonline_use(const struct netonline *o)
{
	return o->use;
}

size_t netonline_held(const struct netonline *o)
{
	return netsplit_held(o->split);
}
