/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hold/guard.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/helper/helper_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct guard {
	struct loop *loop;
	char *program, *journal;
	char epoch[24];
	struct helper_process *run; /* NULL: it does not run */
	struct loop_fd *watch; /* on its socket, where it sends nothing: readable means its end */
	struct list ending;
	/* while it runs: time until it is idle; else: time of the next start */
	struct loop_timer *timer;
	bool is_wanted, is_reported;
};

/* Does not close the line, which would signal our death. */
static void end_run(struct guard *g)
{
	loop_fd_free(g->watch);
	g->watch = NULL;
	helper_process_kill(g->run);
	helper_process_end(g->run, &g->ending);
	g->run = NULL;
	loop_timer_cancel(g->timer);
}

static void on_line(void *arg, unsigned what)
{
	struct guard *g = arg;

	end_run(g);
	if (!g->is_wanted)
		return;
	log_warn("lm", "lm-guard has ended, starting another one");
	loop_timer_arm(g->timer, GUARD_RETRY_NS);
}

static bool try_start(struct guard *g, struct err *e)
{
	const char *argv[] = { g->program, g->journal, g->epoch, NULL };

	g->run = helper_process_start(g->loop, argv, e);
	if (!g->run)
		return false;
	g->watch = loop_fd_new(g->loop,
			       &(struct loop_watch){ .fd = helper_process_fd(g->run),
						     .what = LOOP_READ,
						     .fn = on_line,
						     .arg = g },
			       e);
	if (g->watch)
		return true;
	end_run(g);
	return false;
}

/* Starts the guard. Without it holds stay safe: the next lm reads the journal, too. */
static void start(struct guard *g)
{
	struct err e = { 0 };

	if (try_start(g, &e)) {
		g->is_reported = false;
		return;
	}
	if (!g->is_reported)
		log_warn(
			"lm",
			"no lm-guard reason=\"%s\": if this lm is killed, what it has stopped waits for the next one",
			e.text);
	g->is_reported = true;
	loop_timer_arm(g->timer, GUARD_RETRY_NS);
}

static void on_timer(void *arg)
{
	struct guard *g = arg;

	if (g->is_wanted)
		start(g);
	else
		end_run(g);
}

void guard_want(struct guard *g, bool is_wanted)
{
	if (!g || g->is_wanted == is_wanted)
		return;
	g->is_wanted = is_wanted;
	loop_timer_cancel(g->timer);
	if (is_wanted && !g->run)
		start(g);
	else if (!is_wanted && g->run)
		loop_timer_arm(g->timer, GUARD_IDLE_NS);
}

int32_t guard_pid(const struct guard *g)
{
	return g && g->run ? helper_process_pid(g->run) : 0;
}

struct guard *guard_new(const struct guard_conf *c)
{
	struct guard *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->loop = c->loop;
	list_init(&g->ending);
	snprintf(g->epoch, sizeof(g->epoch), "%" PRIu64, c->epoch);
	g->program = str_dup(c->program);
	g->journal = str_dup(c->journal);
	g->timer = loop_timer_new(c->loop, on_timer, g);
	if (g->program && g->journal && g->timer)
		return g;
	guard_free(g);
	return NULL;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	if (g->run)
		end_run(g);
	helper_processes_drop(&g->ending);
	loop_timer_free(g->timer);
	free(g->program);
	free(g->journal);
	free(g);
}
