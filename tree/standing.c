/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/standing.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/loop/loop.h"
#include "tree/branches.h"
#include "tree/states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct standing {
	struct standing_conf conf;
	struct standing_part *part; /* sorted by branch */
	size_t n, cap;
	size_t waiting; /* parts that wait for a confirmation */
	struct loop_timer *timer; /* owned; ends the wait for confirmations */
};

/* --- the states of a part */

enum event { EV_CHANGED, EV_SENT, EV_CONFIRMED, EV_LOST, EV_RETURNED, EVENTS };

static const char *const state_names[STANDING_STATES] = { "new", "waiting", "confirmed", "away" };
static const char *const event_names[EVENTS] = { "changed", "sent", "confirmed", "lost",
						 "returned" };

#define NEW STANDING_NEW
#define WAITING STANDING_WAITING
#define CONFIRMED STANDING_CONFIRMED
#define AWAY STANDING_AWAY

/* next state by event, in the order of the enumerators */
static const uint8_t next[STANDING_STATES][EVENTS] = {
	[NEW] = { NEW, WAITING, NEW, AWAY, NEW },
	[WAITING] = { NEW, WAITING, CONFIRMED, AWAY, NEW },
	[CONFIRMED] = { NEW, CONFIRMED, CONFIRMED, AWAY, NEW },
	[AWAY] = { NEW, AWAY, AWAY, AWAY, NEW },
};

const struct states standing_states = { .name = "part",
					.state = state_names,
					.event = event_names,
					.nstate = STANDING_STATES,
					.nevent = EVENTS,
					.next = next[0] };

static void step(struct standing *st, struct standing_part *p, enum event ev)
{
	char which[16];

	snprintf(which, sizeof(which), "%u", p->branch);
	st->waiting -= p->state == WAITING;
	p->state = states_step(&standing_states, p->state, ev, which);
	st->waiting += p->state == WAITING;
}

/* --- parts */

static void on_timer(void *arg)
{
	standing_check(arg, true);
}

struct standing *standing_new(const struct standing_conf *conf)
{
	struct standing *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->conf = *conf;
	st->timer = loop_timer_new(conf->loop, on_timer, st);
	if (st->timer)
		return st;
	free(st);
	return NULL;
}

/* Returns the index of the part of that branch, or of the first part of a higher one. */
static size_t place_of(const struct standing *st, uint32_t branch)
{
	size_t from = 0, to = st->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (st->part[mid].branch < branch)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static struct standing_part *find(const struct standing *st, uint32_t branch)
{
	size_t i = place_of(st, branch);

	return i < st->n && st->part[i].branch == branch ? &st->part[i] : NULL;
}

const struct standing_part *standing_find(const struct standing *st, uint32_t branch)
{
	return find(st, branch);
}

const struct standing_part *standing_at(const struct standing *st, size_t i)
{
	return i < st->n ? &st->part[i] : NULL;
}

static void count_bytes(struct standing *st, size_t before, size_t after)
{
	if (st->conf.bytes)
		*st->conf.bytes += after - before;
}

static void part_free(struct standing *st, struct standing_part *p)
{
	size_t i = (size_t)(p - st->part);

	st->waiting -= p->state == WAITING;
	count_bytes(st, p->ntext, 0);
	free((char *)(uintptr_t)p->text);
	memmove(p, p + 1, (--st->n - i) * sizeof(*p));
}

void standing_free(struct standing *st)
{
	if (!st)
		return;
	while (st->n)
		part_free(st, &st->part[st->n - 1]);
	free(st->part);
	loop_timer_free(st->timer);
	free(st);
}

static void end_part(struct standing *st, struct standing_part *p)
{
	st->conf.end(st->conf.arg, p);
	part_free(st, p);
}

void standing_end(struct standing *st)
{
	while (st->n)
		end_part(st, &st->part[st->n - 1]);
}

static struct standing_part *add(struct standing *st, uint32_t branch)
{
	size_t i = place_of(st, branch);

	if (array_grow(&st->part, &st->cap, st->n + 1, sizeof(*st->part), BRANCHES_MAX))
		return NULL;
	memmove(&st->part[i + 1], &st->part[i], (st->n++ - i) * sizeof(*st->part));
	st->part[i] = (struct standing_part){ .branch = branch };
	return &st->part[i];
}

static bool has_text(const struct standing_part *p, const struct standing_part *to)
{
	return p->ntext == to->ntext && (!to->ntext || !memcmp(p->text, to->text, to->ntext));
}

static int copy_text(const struct standing *st, size_t before, const struct standing_part *to,
		     char **out)
{
	*out = NULL;
	if (!to->text)
		return 0;
	if (st->conf.bytes && *st->conf.bytes - before + to->ntext > st->conf.bytes_max)
		return -ERR_LIMIT;
	*out = malloc(to->ntext + 1);
	if (!*out)
		return -ERR_NOMEM;
	memcpy(*out, to->text, to->ntext);
	(*out)[to->ntext] = 0;
	return 0;
}

static int set_text(struct standing *st, struct standing_part *p, const struct standing_part *to)
{
	char *text;
	int rc = copy_text(st, p->ntext, to, &text);

	if (rc)
		return rc;
	count_bytes(st, p->ntext, to->ntext);
	free((char *)(uintptr_t)p->text);
	p->text = text;
	p->ntext = to->ntext;
	step(st, p, EV_CHANGED);
	return 0;
}

int standing_set(struct standing *st, const struct standing_part *to)
{
	struct standing_part *p = find(st, to->branch);
	bool is_new = !p;
	int rc;

	if (!p)
		p = add(st, to->branch);
	if (!p)
		return -ERR_NOMEM;
	rc = has_text(p, to) ? 0 : set_text(st, p, to);
	if (rc && is_new)
		part_free(st, p);
	if (rc)
		return rc;
	p->next_mark = to->mark;
	p->is_old = false;
	return 0;
}

int standing_add(struct standing *st, uint32_t branch, uint64_t number)
{
	const struct standing_part *p = find(st, branch);
	uint64_t sum = p && !p->is_old ? p->next_mark : 0;

	return standing_set(st, &(struct standing_part){ .branch = branch, .mark = sum + number });
}

static int send_part(struct standing *st, struct standing_part *p)
{
	int rc;

	if (!++*st->conf.version)
		++*st->conf.version;
	p->version = *st->conf.version;
	rc = st->conf.send(st->conf.arg, p);
	if (rc == -ERR_NOMEM)
		return rc;
	step(st, p, rc ? EV_LOST : EV_SENT);
	return 0;
}

void standing_begin(struct standing *st, bool all_changed)
{
	for (size_t i = 0; i < st->n; i++) {
		st->part[i].is_old = true;
		if (all_changed)
			step(st, &st->part[i], EV_CHANGED);
	}
}

/* Commits new parts first, so that an object that moves always has a part. */
int standing_commit(struct standing *st)
{
	int rc = 0;

	for (size_t i = 0; i < st->n; i++) {
		struct standing_part *p = &st->part[i];

		if (p->is_old)
			continue;
		if (p->mark != p->next_mark)
			step(st, p, EV_CHANGED);
		p->mark = p->next_mark;
		if (p->state == NEW && send_part(st, p))
			rc = -ERR_NOMEM;
	}
	for (size_t i = st->n; i > 0; i--)
		if (st->part[i - 1].is_old)
			end_part(st, &st->part[i - 1]);
	return rc;
}

/* --- branches that connect and disconnect */

bool standing_up(struct standing *st, uint32_t branch)
{
	struct standing_part *p = find(st, branch);

	if (!p)
		return false;
	step(st, p, EV_RETURNED);
	send_part(st, p);
	return true;
}

bool standing_down(struct standing *st, uint32_t branch)
{
	struct standing_part *p = find(st, branch);

	if (p)
		step(st, p, EV_LOST);
	return p;
}

bool standing_drop(struct standing *st, uint32_t branch)
{
	struct standing_part *p = find(st, branch);

	if (p)
		part_free(st, p);
	return p;
}

/* --- confirmations */

bool standing_has(const struct standing *st, uint32_t branch, uint64_t version)
{
	const struct standing_part *p = find(st, branch);

	return p && p->version && p->version == version;
}

void standing_confirm(struct standing *st, uint32_t branch)
{
	struct standing_part *p = find(st, branch);

	if (p)
		step(st, p, EV_CONFIRMED);
}

void standing_check(struct standing *st, bool give_up)
{
	if (st->waiting && !give_up) {
		if (!loop_timer_is_armed(st->timer))
			loop_timer_arm(st->timer, st->conf.wait_max);
		return;
	}
	loop_timer_cancel(st->timer);
	st->conf.settled(st->conf.arg);
}

bool standing_is_pending(const struct standing *st)
{
	return loop_timer_is_armed(st->timer);
}
