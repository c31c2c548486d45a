/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/hosts/objects.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "common/omis/text/token.h"
#include "sm/hosts/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
	struct list at; /* in all, in the order of creation: a process precedes its threads */
	struct list news; /* in `gone` or `changed`, or in no list */
	struct list threads, sibling; /* of a process; in the threads of a process */
	bool is_thread;
	struct msg_object m; /* strings are in text */
	size_t bytes;
	uint32_t round;
	bool is_gone; /* in the list of gone ones until that was reported, and in no process */
	char text[];
};

struct objects {
	uint32_t node;
	char token[TOKEN_BYTES];
	char *site, *host;
	struct objects_total *total;
	struct smap by_token; /* owns the objects */
	struct list all, changed, gone;
	size_t n, bytes;
	struct buf services; /* of the host's plug-ins, as it reported them */
	uint32_t round;
	bool in_snapshot;
	bool is_whole; /* a complete snapshot has arrived */
	bool wants_full; /* a full report is due, so changes are not stored */
};

struct objects *objects_new(uint32_t node, const char *site, const char *host,
			    struct objects_total *total)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->node = node;
	o->total = total;
	snprintf(o->token, sizeof(o->token), "n_%u", node);
	smap_init(&o->by_token);
	list_init(&o->all);
	list_init(&o->changed);
	list_init(&o->gone);
	o->wants_full = true;
	buf_init(&o->services, PLUGIN_TEXT_MAX_BYTES);
	o->site = str_dup(site);
	o->host = str_dup(host);
	if (o->site && o->host)
		return o;
	objects_free(o);
	return NULL;
}

/* Frees an object that is not in the map. */
static void discard(struct objects *o, struct object *x)
{
	o->n--;
	o->total->n--;
	o->total->procs -= !x->is_thread;
	o->bytes -= x->bytes;
	o->total->bytes -= x->bytes;
	list_del(&x->at);
	list_del(&x->news);
	list_del(&x->sibling);
	list_del(&x->threads);
	free(x);
}

static void forget(struct objects *o, struct object *x)
{
	smap_del(&o->by_token, x->m.token);
	discard(o, x);
}

static void forget_gone(struct objects *o)
{
	for (struct list *i = list_first(&o->gone); i; i = list_first(&o->gone))
		forget(o, list_entry(i, struct object, news));
}

void objects_want_full(struct objects *o)
{
	o->wants_full = true;
	forget_gone(o);
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	list_each_safe (i, &o->all)
		forget(o, list_entry(i, struct object, at));
	smap_done(&o->by_token);
	o->total->bytes -= o->services.n;
	buf_done(&o->services);
	free(o->site);
	free(o->host);
	free(o);
}

size_t objects_count(const struct objects *o)
{
	return o->n;
}

void objects_restart(struct objects *o)
{
	o->in_snapshot = false;
}

bool objects_has_news(const struct objects *o)
{
	return (o->wants_full && o->is_whole) || !list_is_empty(&o->changed) ||
	       !list_is_empty(&o->gone);
}

static struct object *find(const struct objects *o, const char *token)
{
	struct object *x = smap_find(&o->by_token, token);

	return x && !x->is_gone ? x : NULL;
}

const char *objects_parent(const struct objects *o, const char *token)
{
	const struct object *x = find(o, token);

	return x ? x->m.parent : NULL;
}

static void note(struct objects *o, struct object *x)
{
	list_del(&x->news);
	if (!o->wants_full)
		list_push_back(x->is_gone ? &o->gone : &o->changed, &x->news);
}

/* --- one object */

static char *keep(char **at, const char *s)
{
	size_t n = strlen(s) + 1;
	char *to = *at;

	memcpy(to, s, n);
	*at += n;
	return to;
}

/* site and host are the message's and need not be kept: they are ours. */
static struct object *object_new(const struct objects *o, const struct msg_object *m)
{
	size_t text = strlen(m->token) + strlen(m->parent) + strlen(m->name) + strlen(m->job) +
		      strlen(m->flavour) + 5;
	struct object *x = calloc(1, sizeof(*x) + text);
	char *at;

	if (!x)
		return NULL;
	at = x->text;
	x->m = *m;
	x->m.token = keep(&at, m->token);
	x->m.parent = keep(&at, m->parent);
	x->m.name = keep(&at, m->name);
	x->m.job = keep(&at, m->job);
	x->m.flavour = keep(&at, m->flavour);
	x->m.site = o->site;
	x->m.host = o->host;
	x->m.sub = MSG_NODE_UP;
	x->m.op = MSG_OP_PRESENT;
	x->bytes = sizeof(*x) + text;
	list_init(&x->at);
	list_init(&x->news);
	list_init(&x->threads);
	list_init(&x->sibling);
	return x;
}

/* Memory added by a new object, or by a newer state of an existing one. */
struct growth {
	size_t n, bytes;
};

static struct growth growth_by(const struct objects *o, const struct object *x)
{
	const struct object *old = smap_find(&o->by_token, x->m.token);

	if (!old)
		return (struct growth){ 1, x->bytes };
	return (struct growth){ 0, x->bytes > old->bytes ? x->bytes - old->bytes : 0 };
}

/* Counted only by callers that report it: with e. */
static int room_of_quota(const struct objects_total *t, const struct growth *g, struct err *e)
{
	struct quota_use *use = e ? t->use : NULL;
	int rc = 0;

	if (g->n && t->quota)
		rc = quota_check(t->quota, QUOTA_OBJECTS, (int64_t)(t->n + g->n), use, e);
	if (!rc && g->bytes && t->quota)
		rc = quota_check(t->quota, QUOTA_BYTES, (int64_t)(t->bytes + g->bytes), use, e);
	return rc;
}

static int room_for(const struct objects *o, const struct object *x, struct err *e)
{
	const struct growth g = growth_by(o, x);

	if (o->n + g.n > OBJECTS_NODE_MAX || o->bytes + g.bytes > OBJECTS_NODE_BYTES_MAX)
		return err_set(e, ERR_LIMIT,
			       "host %s has more than %d objects, or %d bytes of them", o->host,
			       OBJECTS_NODE_MAX, OBJECTS_NODE_BYTES_MAX);
	if (o->total->n + g.n > OBJECTS_SITE_MAX ||
	    o->total->bytes + g.bytes > OBJECTS_SITE_BYTES_MAX)
		return err_set(
			e, ERR_LIMIT,
			"the hosts of this site have more than %d objects, or %d bytes of them",
			OBJECTS_SITE_MAX, OBJECTS_SITE_BYTES_MAX);
	return room_of_quota(o->total, &g, e);
}

static bool is_same(const struct msg_object *a, const struct msg_object *b)
{
	return str_eq(a->parent, b->parent) && str_eq(a->name, b->name) && a->pid == b->pid &&
	       a->rank == b->rank && a->world_size == b->world_size && str_eq(a->job, b->job) &&
	       str_eq(a->flavour, b->flavour) && a->state == b->state &&
	       a->exit_status == b->exit_status;
}

/* Makes room by dropping ended objects; a full report is then due. */
static int make_room(struct objects *o, const struct object *x, struct err *e)
{
	if (!room_for(o, x, NULL))
		return 0;
	if (!list_is_empty(&o->gone))
		objects_want_full(o);
	return room_for(o, x, e);
}

static void count(struct objects *o, const struct object *x)
{
	o->n++;
	o->total->n++;
	o->total->procs += !x->is_thread;
	o->bytes += x->bytes;
	o->total->bytes += x->bytes;
}

/* x is a newer state of old and takes its place, also as the process of its threads. */
static void replace(struct objects *o, struct object *old, struct object *x)
{
	list_insert_between(&x->at, &old->at, old->at.next);
	list_splice_back(&x->threads, &old->threads);
	discard(o, old);
}

static int put(struct objects *o, const struct msg_object *m, struct object *process, struct err *e)
{
	struct object *x = object_new(o, m), *old;
	void *was = NULL;
	int rc;

	if (!x)
		return err_nomem(e);
	rc = make_room(o, x, e);
	if (!rc && smap_put(&o->by_token, x->m.token, x, &was))
		rc = err_nomem(e);
	if (rc) {
		free(x);
		return rc;
	}
	old = was;
	x->round = o->round;
	x->is_thread = process;
	if (process)
		list_push_back(&process->threads, &x->sibling);
	count(o, x);
	if (old)
		replace(o, old, x);
	else
		list_push_back(&o->all, &x->at);
	note(o, x);
	return 0;
}

static int put_if_new(struct objects *o, const struct msg_object *m, struct object *process,
		      struct err *e)
{
	struct object *old = find(o, m->token);

	if (!old || !is_same(&old->m, m))
		return put(o, m, process, e);
	old->round = o->round;
	return 0;
}

/* --- checks of a host's message */

/* Accepts only valid names of this node's objects. */
static int check_token(const struct objects *o, const struct msg_object *m, struct token_parts *t,
		       struct err *e)
{
	if (token_parse(m->token, strlen(m->token), t) ||
	    (t->kind != TOKEN_NODE && t->kind != TOKEN_PROCESS && t->kind != TOKEN_THREAD))
		return err_set(e, ERR_PROTO, "'%s' is not an object that a host has", m->token);
	if (t->number != o->node)
		return err_set(e, ERR_DENIED, "'%s' is not of node %s", m->token, o->token);
	if ((m->host[0] && !str_eq(m->host, o->host)) || (m->site[0] && !str_eq(m->site, o->site)))
		return err_set(e, ERR_DENIED,
			       "'%s' is said to be on host %s of site %s, which %s is not",
			       m->token, m->host, m->site, o->host);
	if (m->state > MSG_STATE_UNREACHABLE)
		return err_set(e, ERR_PROTO, "'%s' has no such state", m->token);
	return 0;
}

static int check_parent(const struct objects *o, const struct msg_object *m,
			const struct token_parts *t, struct object **process, struct err *e)
{
	*process = NULL;
	if (t->kind == TOKEN_PROCESS && str_eq(m->parent, o->token))
		return 0;
	if (t->kind == TOKEN_THREAD)
		*process = find(o, m->parent);
	if (*process && !(*process)->is_thread)
		return 0;
	return err_set(e, ERR_PROTO, "'%s' has no such parent '%s'", m->token, m->parent);
}

/* Ends an object; a process with its threads. */
static void go(struct objects *o, struct object *x)
{
	list_each_safe (i, &x->threads)
		go(o, list_entry(i, struct object, sibling));
	list_del(&x->sibling);
	x->is_gone = true;
	x->m.op = MSG_OP_GONE;
	if (o->wants_full)
		forget(o, x);
	else
		note(o, x);
}

static int apply_one(struct objects *o, const struct msg_object *m, bool *left, struct err *e)
{
	struct token_parts t;
	struct object *x, *process;
	int rc = check_token(o, m, &t, e);

	if (rc)
		return rc;
	if (t.kind == TOKEN_NODE) {
		*left |= m->op == MSG_OP_GONE;
		return 0;
	}
	if (m->op == MSG_OP_GONE) {
		x = find(o, m->token);
		if (x)
			go(o, x);
		return 0;
	}
	rc = check_parent(o, m, &t, &process, e);
	return rc ? rc : put_if_new(o, m, process, e);
}

/*
 * After a snapshot: removes objects that it did not contain. A process removes its threads from
 * whichever list they are in.
 */
static void sweep(struct objects *o)
{
	struct list stale;

	list_init(&stale);
	list_each_safe (i, &o->all) {
		struct object *x = list_entry(i, struct object, at);

		if (x->is_gone || x->round == o->round)
			continue;
		list_del(i);
		list_push_back(&stale, i);
	}
	while (!list_is_empty(&stale)) {
		struct object *x = list_entry(stale.next, struct object, at);

		list_del(&x->at);
		list_push_back(&o->all, &x->at);
		if (!x->is_gone)
			go(o, x);
	}
}

/* Stores the text unchanged for mainsm. */
static int put_services(struct objects *o, const struct bytes *text, struct err *e)
{
	if (text->n == o->services.n && (!text->n || !memcmp(text->p, o->services.p, text->n)))
		return 0;
	if (text->n > PLUGIN_TEXT_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "host %s has more than %d bytes of services", o->host,
			       PLUGIN_TEXT_MAX_BYTES);
	o->total->bytes -= o->services.n;
	buf_clear(&o->services);
	buf_put(&o->services, text->p, text->n);
	o->total->bytes += o->services.n;
	if (o->services.failed)
		return err_nomem(e);
	objects_want_full(o);
	return 0;
}

int objects_apply(struct objects *o, const struct msg_directory *m, bool *left, struct err *e)
{
	int rc = 0;

	if (m->node != o->node)
		return err_set(e, ERR_DENIED, "node n_%u is not %s", m->node, o->token);
	if (m->full && !o->in_snapshot) {
		o->round++;
		o->in_snapshot = true;
	}
	for (size_t i = 0; !rc && i < m->nobject; i++)
		rc = apply_one(o, &m->object[i], left, e);
	if (rc)
		return rc;
	if (m->full && !m->more) {
		o->in_snapshot = false;
		o->is_whole = true;
		sweep(o);
		rc = put_services(o, &m->services, e);
	}
	return rc;
}

/* --- calling */

/* A message under construction. */
struct calling {
	struct objects *o;
	const struct objects_sink *to;
	struct msg_object *v; /* OBJECTS_PART_MAX */
	struct msg_directory m;
	size_t bytes;
};

static void set_reported(struct objects *o, const struct msg_object *m)
{
	struct object *x = smap_find(&o->by_token, m->token);

	if (!x)
		return;
	list_del(&x->news);
	if (x->is_gone)
		forget(o, x);
}

static int send_part(struct calling *t, bool more)
{
	int rc;

	t->m.more = more;
	t->m.services = t->m.full && !more ? buf_bytes(&t->o->services) : (struct bytes){ 0 };
	rc = t->to->send(t->to->arg, &t->m);
	for (size_t i = 0; !rc && i < t->m.nobject; i++)
		set_reported(t->o, &t->v[i]);
	t->m.nobject = 0;
	t->bytes = 0;
	return rc;
}

static int report(struct calling *t, const struct msg_object *m)
{
	size_t bytes = 64 + strlen(m->token) + strlen(m->parent) + strlen(m->name) +
		       strlen(m->job) + strlen(m->flavour) + strlen(m->site) + strlen(m->host);
	int rc = 0;

	if (t->m.nobject == OBJECTS_PART_MAX ||
	    (t->m.nobject && t->bytes + bytes > OBJECTS_PART_BYTES))
		rc = send_part(t, t->m.full);
	if (!rc) {
		t->v[t->m.nobject++] = *m;
		t->bytes += bytes;
	}
	return rc;
}

static int call_ready(struct calling *t)
{
	int rc = 0;

	list_each (i, &t->o->all) {
		rc = report(t, &list_entry(i, struct object, at)->m);
		if (rc)
			break;
	}
	return rc;
}

static int report_changes(struct calling *t, struct list *of)
{
	int rc = 0;

	/* Sent objects leave the list; those in the message are in front of i. */
	list_each_safe (i, of) {
		rc = report(t, &list_entry(i, struct object, news)->m);
		if (rc)
			break;
	}
	return rc;
}

/* Ended objects first: a token may be used again by a later one. */
static int report_changed(struct calling *t)
{
	int rc = report_changes(t, &t->o->gone);

	return rc ? rc : report_changes(t, &t->o->changed);
}

int objects_notify(struct objects *o, const struct msg_object *head, const struct objects_sink *to)
{
	bool full = o->wants_full && o->is_whole;
	struct calling t = { .o = o, .to = to, .m = { .full = full, .node = o->node } };
	int rc = 0;

	t.v = calloc(OBJECTS_PART_MAX, sizeof(*t.v));
	if (!t.v)
		return -ERR_NOMEM;
	t.m.object = t.v;
	if (head)
		rc = report(&t, head);
	if (!rc)
		rc = full ? call_ready(&t) : report_changed(&t);
	if (!rc && (t.m.nobject || full))
		rc = send_part(&t, false);
	if (!rc && full)
		o->wants_full = false;
	free(t.v);
	return rc;
}
