/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/network.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[NETWORK_KINDS] = {
	[NETWORK_SOURCE] = "source", [NETWORK_FORK] = "fork", [NETWORK_JOIN] = "join",
	[NETWORK_SIMPLE] = "simple", [NETWORK_SINK] = "sink",
};

static const char *const anomaly_names[NETWORK_ANOMALIES] = {
	[NETWORK_BOTH_BLOCKED] = "both_blocked",
	[NETWORK_WAIT_WITHOUT_JOIN] = "wait_without_join",
	[NETWORK_END_WITHOUT_BEGIN] = "end_without_begin",
	[NETWORK_BACKWARD_MESSAGE] = "backward_message",
};

const char *network_kind_name(enum network_kind kind)
{
	return kind_names[kind];
}

int network_kind_from_name(const char *s, size_t n, enum network_kind *out)
{
	for (unsigned i = 0; i < NETWORK_KINDS; i++)
		if (strlen(kind_names[i]) == n && !memcmp(kind_names[i], s, n)) {
			*out = (enum network_kind)i;
			return 0;
		}
	return -ERR_INVALID;
}

const char *network_anomaly_name(enum network_anomaly a)
{
	return anomaly_names[a];
}

void network_init(struct network *w, struct netuse *use)
{
	*w = (struct network){ .use = use, .v0 = NETWORK_NONE, .vf = NETWORK_NONE };
	map_init(&w->ids);
	buf_init(&w->names, NETWORK_NAMES_MAX_BYTES);
	rng_draw_key(&w->key);
}

void network_clear(struct network *w)
{
	map_done(&w->ids);
	map_init(&w->ids);
	buf_clear(&w->names);
	if (w->named)
		memset(w->named, 0, w->named_slots * sizeof(*w->named));
	w->n = w->ntask = w->unsettled = w->nnamed = w->nop = 0;
	w->nstretch = w->npiece = 0;
	w->v0 = w->vf = NETWORK_NONE;
	w->is_unsorted = w->is_built = false;
	memset(w->count, 0, sizeof(w->count));
	memset(w->anomaly, 0, sizeof(w->anomaly));
}

void network_done(struct network *w)
{
	map_done(&w->ids);
	buf_done(&w->names);
	free(w->v);
	free(w->task);
	free(w->named);
	free(w->op);
	free(w->stretch);
	free(w->piece);
}

/* --- names */

const char *network_name(const struct network *w, uint32_t v, char out[NETWORK_NAME_BYTES])
{
	if (w->v[v].name)
		return buf_str(&w->names) + w->v[v].name;
	snprintf(out, NETWORK_NAME_BYTES, "#%" PRIu32, w->v[v].place);
	return out;
}

static uint32_t *name_slot(const struct network *w, const char *name, size_t n)
{
	size_t at = hash_sip13(&w->key, name, n) & (w->named_slots - 1);

	for (;; at = (at + 1) & (w->named_slots - 1)) {
		const char *known =
			w->named[at] ? buf_str(&w->names) + w->v[w->named[at] - 1].name : NULL;

		if (!known || (!strncmp(known, name, n) && !known[n]))
			return &w->named[at];
	}
}

static void name_all(struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->v[i].name) {
			const char *name = buf_str(&w->names) + w->v[i].name;

			*name_slot(w, name, strlen(name)) = i + 1;
		}
}

static int grow_names(struct network *w)
{
	size_t slots = w->named_slots ? w->named_slots * 2 : 32;
	uint32_t *was = w->named;

	if ((w->nnamed + 1) * 2 <= w->named_slots)
		return 0;
	w->named = calloc(slots, sizeof(*w->named));
	if (!w->named) {
		w->named = was;
		return -ERR_NOMEM;
	}
	w->named_slots = slots;
	name_all(w);
	free(was);
	return 0;
}

void network_rename(struct network *w)
{
	if (!w->nnamed)
		return;
	memset(w->named, 0, w->named_slots * sizeof(*w->named));
	name_all(w);
}

uint32_t network_find(const struct network *w, const char *name)
{
	uint32_t found;
	uint64_t place;

	if (*name == '#' && !str_to_u64(name + 1, 0, UINT32_MAX, &place)) {
		for (uint32_t i = 0; i < w->n; i++)
			if (!w->v[i].name && w->v[i].place == place)
				return i;
		return NETWORK_NONE;
	}
	found = w->named_slots ? *name_slot(w, name, strlen(name)) : 0;
	return found ? found - 1 : NETWORK_NONE;
}

static int put_name(struct network *w, const struct network_event *ev, struct network_vertex *v,
		    struct err *e)
{
	if (!ev->name)
		return 0;
	if (!str_is_name(ev->name, ev->n))
		return err_set(e, ERR_INVALID, "a vertex's name is printable text of 1..%d bytes",
			       NAME_MAX_BYTES);
	if (grow_names(w))
		return err_nomem(e);
	if (*name_slot(w, ev->name, ev->n))
		return err_set(e, ERR_EXISTS, "vertex '%.*s' is there twice", (int)ev->n, ev->name);
	if (!w->names.n)
		buf_putc(&w->names, 0);
	v->name = (uint32_t)w->names.n;
	buf_put(&w->names, ev->name, ev->n);
	buf_putc(&w->names, 0);
	if (w->names.failed)
		return err_set(e, ERR_LIMIT, "no room for the names of vertices");
	*name_slot(w, ev->name, ev->n) = (uint32_t)w->n + 1;
	w->nnamed++;
	return 0;
}

/* --- sub-tasks */

static int find_task(struct network *w, uint64_t id, uint32_t *out, struct err *e)
{
	void *known = map_find(&w->ids, id);
	int rc;

	if (known) {
		*out = (uint32_t)((uintptr_t)known - 1);
		return 0;
	}
	rc = array_grow(&w->task, &w->task_cap, w->ntask + 1, sizeof(*w->task),
			NETWORK_VERTICES_MAX);
	if (!rc)
		rc = map_put(&w->ids, id, (void *)(uintptr_t)(w->ntask + 1), NULL);
	if (rc)
		return err_set(e, (enum err_code) - rc, "no room for another sub-task");
	w->task[w->ntask] = (struct network_task){ .id = id,
						   .creator = NETWORK_NONE,
						   .ender = NETWORK_NONE,
						   .first = NETWORK_NONE,
						   .last = NETWORK_NONE };
	w->unsettled += 2;
	*out = (uint32_t)w->ntask++;
	return 0;
}

static int refuse_twice(const struct network *w, const struct network_task *t, uint32_t before,
			const char *verb, struct err *e)
{
	char name[NETWORK_NAME_BYTES];

	return err_set(e, ERR_EXISTS, "sub-task %" PRIu64 " %s twice: at %s before", t->id, verb,
		       network_name(w, before, name));
}

/* Refuses an event that contradicts an earlier one. */
static int check_roles(const struct network *w, const struct network_event *ev,
		       const struct network_vertex *v, struct err *e)
{
	bool is_pair = network_is_pair(ev->kind);
	const struct network_task *t = &w->task[v->task], *o = is_pair ? &w->task[v->other] : t;

	if (is_pair && v->task == v->other)
		return err_set(e, ERR_INVALID, "sub-task %" PRIu64 " %s itself", t->id,
			       ev->kind == NETWORK_FORK ? "creates" : "joins");
	if (ev->kind == NETWORK_SOURCE && w->v0 != NETWORK_NONE)
		return err_set(e, ERR_EXISTS, "a second source");
	if ((ev->kind == NETWORK_SOURCE || ev->kind == NETWORK_FORK) && o->creator != NETWORK_NONE)
		return refuse_twice(w, o, o->creator, "is created", e);
	if ((ev->kind == NETWORK_SINK || ev->kind == NETWORK_JOIN) && o->ender != NETWORK_NONE)
		return refuse_twice(w, o, o->ender, "ends", e);
	return 0;
}

static void settle(struct network *w, const struct network_event *ev, uint32_t at,
		   const struct network_vertex *v)
{
	struct network_task *t = &w->task[v->task];

	switch (ev->kind) {
	case NETWORK_SOURCE:
		w->v0 = at;
		t->creator = at;
		w->unsettled--;
		break;
	case NETWORK_FORK:
		w->task[v->other].creator = at;
		w->unsettled--;
		break;
	case NETWORK_JOIN:
		w->task[v->other].ender = at;
		w->unsettled--;
		break;
	case NETWORK_SINK:
		t->ender = at;
		w->unsettled--;
		break;
	case NETWORK_SIMPLE:
		break;
	}
}

/* --- events */

static int copy_ops(struct network *w, const struct network_event *ev, struct network_vertex *v,
		    struct err *e)
{
	int rc = array_grow(&w->op, &w->op_cap, w->nop + ev->nuse, sizeof(*w->op), UINT32_MAX);

	if (rc)
		return err_set(e, (enum err_code) - rc, "no room for the uses of objects");
	v->ops = (uint32_t)w->nop;
	v->nops = (uint32_t)ev->nuse;
	if (ev->nuse)
		memcpy(w->op + w->nop, ev->use, ev->nuse * sizeof(*ev->use));
	return 0;
}

static int copy_stretch(struct network *w, const struct network_event *ev, struct network_vertex *v,
			struct err *e)
{
	const struct network_stretch *s = ev->stretch;
	int rc = s ? array_grow(&w->stretch, &w->stretch_cap, w->nstretch + 1, sizeof(*w->stretch),
				NETWORK_VERTICES_MAX)
		   : 0;

	if (s && !rc)
		rc = array_grow(&w->piece, &w->piece_cap, w->npiece + s->n + 1, sizeof(*w->piece),
				UINT32_MAX);
	if (!s || rc)
		return rc ? err_set(e, (enum err_code) - rc, "no room for contracted arcs") : 0;
	w->stretch[w->nstretch] = *s;
	w->stretch[w->nstretch].piece = NULL;
	w->stretch[w->nstretch].first = (uint32_t)w->npiece;
	if (s->n)
		memcpy(w->piece + w->npiece, s->piece, s->n * sizeof(*s->piece));
	v->stretch = (uint32_t)w->nstretch + 1;
	return 0;
}

static void link_own(struct network *w, uint32_t at, const struct network_vertex *v)
{
	struct network_task *t = &w->task[v->task];

	w->is_unsorted |= t->last != NETWORK_NONE && w->v[t->last].t > v->t;
	if (t->first == NETWORK_NONE)
		t->first = at;
	t->last = at;
}

static int add(struct network *w, const struct network_event *ev, struct err *e)
{
	struct network_vertex v = { .t = ev->t,
				    .tail = NETWORK_NONE,
				    .tail2 = NETWORK_NONE,
				    .other = NETWORK_NONE,
				    .place = ev->place,
				    .node = ev->node,
				    .kind = (uint8_t)ev->kind,
				    .is_message = ev->is_message,
				    .blocks = ev->blocks };
	uint32_t at = (uint32_t)w->n;
	int rc = array_grow(&w->v, &w->cap, w->n + 1, sizeof(*w->v), NETWORK_VERTICES_MAX);

	if (rc)
		return err_set(e, (enum err_code) - rc, "no room for more than %zu vertices", w->n);
	rc = find_task(w, ev->task, &v.task, e);
	if (!rc && network_is_pair(ev->kind))
		rc = find_task(w, ev->other, &v.other, e);
	rc = rc ? rc : check_roles(w, ev, &v, e);
	rc = rc ? rc : copy_ops(w, ev, &v, e);
	rc = rc ? rc : copy_stretch(w, ev, &v, e);
	rc = rc ? rc : put_name(w, ev, &v, e);
	if (rc)
		return rc;
	w->nop += ev->nuse;
	if (ev->stretch) {
		w->nstretch++;
		w->npiece += ev->stretch->n;
	}
	v.tail = w->task[v.task].last;
	settle(w, ev, at, &v);
	link_own(w, at, &v);
	w->count[ev->kind]++;
	w->v[w->n++] = v;
	return 0;
}

int network_add(struct network *w, const struct network_event *ev, struct err *e)
{
	int rc = add(w, ev, e);

	if (rc)
		err_at(e, ev->place, 0);
	return rc;
}

int network_add_copy(struct network *w, const struct network_copy *c, struct err *e)
{
	const struct network *from = c->from;
	const struct network_vertex *v = &from->v[c->v];
	const char *name = v->name ? buf_str(&from->names) + v->name : NULL;
	struct network_event ev = { .name = name,
				    .n = name ? strlen(name) : 0,
				    .t = v->t,
				    .kind = (enum network_kind)v->kind,
				    .is_message = v->is_message,
				    .blocks = v->blocks,
				    .task = from->task[v->task].id,
				    .node = v->node,
				    .place = v->place,
				    .use = c->use,
				    .nuse = c->nuse };
	struct network_stretch stretch;

	if (v->stretch) {
		stretch = *network_stretch(from, c->v);
		stretch.piece = stretch.n ? from->piece + stretch.first : NULL;
		ev.stretch = &stretch;
	}
	if (v->other != NETWORK_NONE)
		ev.other = from->task[v->other].id;
	return network_add(w, &ev, e);
}

int network_absorb(struct network *w, const struct network *from, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < from->n && !rc; i++) {
		const struct network_vertex *v = &from->v[i];
		struct network_copy c = { from, (uint32_t)i, v->nops ? from->op + v->ops : NULL,
					  v->nops };

		rc = network_add_copy(w, &c, e);
	}
	return rc;
}

bool network_is_whole(const struct network *w)
{
	return !w->unsettled && w->v0 != NETWORK_NONE;
}

void network_put_missing(const struct network *w, struct buf *out)
{
	size_t missing = 0, first = buf_str(out) ? out->n : 0;

	if (w->v0 == NETWORK_NONE) {
		buf_puts(out, "the source");
		missing++;
	}
	for (size_t i = 0; i < w->ntask; i++) {
		const struct network_task *t = &w->task[i];

		if (t->creator == NETWORK_NONE && missing++ == 0)
			buf_printf(out, "the fork of sub-task %" PRIu64, t->id);
		if (t->ender == NETWORK_NONE && missing++ == 0)
			buf_printf(out, "the end of sub-task %" PRIu64, t->id);
	}
	if (missing > 1 && out->n > first)
		buf_printf(out, ", and %zu more", missing - 1);
}

/* --- arcs */

bool network_arc(const struct network *w, uint32_t head, bool is_ending, struct network_arc *out)
{
	const struct network_vertex *v = &w->v[head];
	const struct network_vertex *tail;
	bool is_own;

	*out = (struct network_arc){ .head = head, .tail = is_ending ? v->tail2 : v->tail };
	if (out->tail == NETWORK_NONE)
		return false;
	out->task = is_ending ? v->other : v->task;
	tail = &w->v[out->tail];
	is_own = tail->task == out->task;
	out->use = is_own ? tail->use : tail->child_use;
	out->blocks = is_own && tail->blocks && v->kind == NETWORK_JOIN;
	return true;
}

bool network_takes_ending(const struct network *w, uint32_t join, bool *is_unique)
{
	struct network_arc own, ending;

	network_arc(w, join, false, &own);
	network_arc(w, join, true, &ending);
	*is_unique = own.blocks || ending.blocks;
	if (own.blocks != ending.blocks)
		return own.blocks;
	return own.blocks && w->v[ending.tail].t > w->v[own.tail].t;
}
