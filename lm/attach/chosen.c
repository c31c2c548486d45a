/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/attach/chosen.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/ring/chosen.h"
#include "lm/host/host.h"
#include "lm/proc/proc.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* generations of parents that are followed: more than any script has */

struct chosen {
	struct chosen_conf conf;
	char *caid; /* owned */
	struct loop_timer *timer;
	struct host_chosen *found; /* found by the current scan, ascending by pid */
	size_t n, cap;
	/* seen_at: time of the last chosen process, or of a message about one */
	nsec_t period, seen_at;
	bool has_refused;
};

static void on_found(void *arg, const struct host_chosen *f)
{
	struct chosen *c = arg;

	if (!array_grow(&c->found, &c->cap, c->n + 1, sizeof(*f), CHOSEN_FOUND_MAX))
		c->found[c->n++] = *f;
}

static int compare(const void *a, const void *b)
{
	int32_t x = ((const struct host_chosen *)a)->pid, y = ((const struct host_chosen *)b)->pid;

	return (x > y) - (x < y);
}

static const struct host_chosen *find(const struct chosen *c, int32_t pid)
{
	const struct host_chosen key = { .pid = pid };

	return c->n ? bsearch(&key, c->found, c->n, sizeof(key), compare) : NULL;
}

static int32_t parent_of(const struct chosen *c, int32_t pid)
{
	struct host_figures f;

	return !host_figures(c->conf.host, pid, HOST_FIGURES_STAT, &f, NULL) ? f.parent : 0;
}

/*
 * True if a launcher is between the process and its omig. A launcher above that omig does not
 * count.
 */
static bool is_of_launcher(const struct chosen *c, const struct host_chosen *f)
{
	const struct host_chosen *at = f;

	for (int i = 0; i < DEPTH_MAX && at && at->mark == f->mark; i++) {
		if (chosen_is_launcher(at->program) || chosen_is_launcher(at->name))
			return true;
		at = find(c, parent_of(c, at->pid));
	}
	return false;
}

/*
 * Returns the kernel's name, which is that of a script, too; if it is cut, the path that has the
 * whole name.
 */
static const char *program_of(const struct host_chosen *f)
{
	return strlen(f->name) == sizeof(f->name) - 1 &&
			       str_has_prefix(str_base_name(f->program), f->name)
		       ? f->program
		       : f->name;
}

static bool has_it(const struct chosen *c, const struct host_chosen *f)
{
	struct proc *p = procs_find_pid(c->conf.procs, f->pid);

	if (p)
		procs_set_program(p, f->job, program_of(f));
	return p;
}

/* a process that has ended meanwhile is not counted */
static void take(struct chosen *c, const struct host_chosen *f)
{
	struct proc_registration in = { .pid = f->pid, .job = f->job, .program = program_of(f) };
	struct err e = { 0 };
	struct proc *p;
	int rc = procs_take(c->conf.procs, &in, &p, &e);

	if (!rc)
		c->has_refused = false;
	if (!rc || rc == -ERR_NOTFOUND || rc == -ERR_AGAIN || c->has_refused)
		return;
	c->has_refused = true;
	c->conf.refused(c->conf.arg, f->pid, &e);
}

static void look(struct chosen *c)
{
	c->n = 0;
	host_each_chosen(c->conf.host, c->caid, on_found, c);
	if (c->n)
		qsort(c->found, c->n, sizeof(*c->found), compare);
	for (size_t i = 0; i < c->n; i++) {
		const struct host_chosen *f = &c->found[i];

		if (has_it(c, f))
			c->seen_at = loop_now(c->conf.loop);
		else if (!is_of_launcher(c, f)) {
			c->seen_at = loop_now(c->conf.loop);
			take(c, f);
		}
	}
}

/*
 * Measures the time of a search by clock_mono(), because the loop's clock does not advance during
 * a turn.
 */
static void on_timer(void *arg)
{
	struct chosen *c = arg;
	nsec_t began = clock_mono(), took;

	look(c);
	took = (clock_mono() - began) * CHOSEN_COST;
	c->period = c->period * 2 < CHOSEN_MIN_NS ? c->period * 2 : CHOSEN_MIN_NS;
	if (loop_now(c->conf.loop) - c->seen_at < CHOSEN_STAY_NS)
		loop_timer_arm(c->timer, c->period > took ? c->period : took);
}

void chosen_wake(struct chosen *c)
{
	if (!c->conf.host->ops->each_chosen)
		return;
	c->period = CHOSEN_SOON_NS;
	c->seen_at = loop_now(c->conf.loop);
	loop_timer_arm(c->timer, c->period);
}

struct chosen *chosen_new(const struct chosen_conf *conf)
{
	struct chosen *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->conf = *conf;
	c->caid = str_dup(conf->caid);
	c->timer = loop_timer_new(conf->loop, on_timer, c);
	if (c->caid && c->timer)
		return c;
	chosen_free(c);
	return NULL;
}

void chosen_free(struct chosen *c)
{
	if (!c)
		return;
	loop_timer_free(c->timer);
	free(c->found);
	free(c->caid);
	free(c);
}
