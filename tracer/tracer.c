/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/tracer.h"

#include "tracer/enter.h"
#include "tracer/function/symbols.h"
#include "tracer/functions.h"
#include "tracer/source.h"
#include "tracer/tracees.h"

#include <stdlib.h>

struct tracer {
	struct loop *loop;
	struct line *line;
	struct tracees *tracees;
	struct loop_timer *idle;
};

static int do_work(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	struct work *w = work_new(m);
	int rc = w ? tracees_do(t->tracees, &w, e) : err_nomem(e);

	if (w)
		work_free(w);
	return rc;
}

static void answer_bytes(struct tracer *t, uint32_t id, const struct buf *b)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	size_t at = 0;

	if (!m) {
		loop_stop(t->loop);
		return;
	}
	m->type = TRACER_BYTES;
	m->id = id;
	do {
		m->bytes = b->p + at;
		m->nbytes = b->n - at < TRACER_BYTES_MAX ? b->n - at : TRACER_BYTES_MAX;
		at += m->nbytes;
		m->what = at < b->n;
		line_answer(t->line, m);
	} while (at < b->n);
	free(m);
}

static int do_source(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	struct buf b = BUF_INIT(SOURCE_TEXT_MAX_BYTES);
	int rc = source_lines(&(struct source_file){ m->text[0], m->bytes, m->nbytes }, m->value,
			      m->nvalue, &b, e);

	if (!rc)
		answer_bytes(t, m->id, &b);
	buf_done(&b);
	return rc;
}

static int do_find(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	struct buf b = BUF_INIT(SYMBOLS_TEXT_MAX_BYTES);
	int rc = symbols_list(m->pid, m->text[0], &b, e);

	if (!rc)
		answer_bytes(t, m->id, &b);
	buf_done(&b);
	return rc;
}

static void answer_entered(struct tracer *t, const struct tracer_msg *of,
			   const struct enter_result *r)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));

	if (!m) {
		loop_stop(t->loop);
		return;
	}
	m->type = TRACER_ENTERED;
	m->id = of->id;
	m->pid = of->pid;
	m->start = of->start;
	m->value[m->nvalue++] = r->state;
	m->value[m->nvalue++] = r->slots;
	m->value[m->nvalue++] = r->skipped;
	m->value[m->nvalue++] = (uint64_t)r->stopped;
	m->text[m->ntext++] = r->why;
	line_answer(t->line, m);
	free(m);
}

static int do_enter(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	const struct who w = { m->pid, m->pid, m->start };
	const struct enter_conf c = { m->text[0], m->text[1], m->text[2], m->text[3] };
	struct enter_result r;
	int rc;

	if (m->what == TRACER_ENTER_ARM)
		rc = enter_arm(t->tracees, &w, &c, &r, e);
	else if (m->what == TRACER_ENTER_LEAVE)
		rc = enter_leave(t->tracees, &w, &r, e);
	else
		rc = enter_look(&w, &r, e);
	if (!rc)
		answer_entered(t, m, &r);
	return rc;
}

static int do_function(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	struct tracer_msg *done = calloc(1, sizeof(*done));
	int rc;

	if (!done)
		return err_nomem(e);
	done->type = TRACER_FUNCTION;
	done->id = m->id;
	rc = tracer_function_on(t->tracees, m, done, e);
	if (!rc)
		line_answer(t->line, done);
	free(done);
	return rc;
}

/* Returns 1 if the answer was sent or follows later. */
static int execute(struct tracer *t, const struct tracer_msg *m, struct err *e)
{
	int rc;

	switch (m->type) {
	case TRACER_WATCH:
		return tracees_watch(t->tracees, m, e);
	case TRACER_CREATE:
		rc = tracees_create(t->tracees, m, e);
		return rc ? rc : 1;
	case TRACER_LET_GO:
		return tracees_let_go(t->tracees, m, e);
	case TRACER_FUNCTION_ON:
		rc = do_function(t, m, e);
		return rc ? rc : 1;
	case TRACER_FUNCTION_OFF:
		return tracer_function_off(t->tracees, m, e);
	case TRACER_SOURCE:
		rc = do_source(t, m, e);
		return rc ? rc : 1;
	case TRACER_FUNCTION_FIND:
		rc = do_find(t, m, e);
		return rc ? rc : 1;
	case TRACER_ENTER:
		rc = do_enter(t, m, e);
		return rc ? rc : 1;
	default:
		rc = do_work(t, m, e);
		return rc ? rc : 1;
	}
}

static void on_msg(void *arg, const struct tracer_msg *m)
{
	struct tracer *t = arg;
	struct err e = { 0 };
	struct tracer_msg *done;
	int got = execute(t, m, &e);

	loop_timer_arm(t->idle, TRACER_IDLE_NS);
	if (got < 0)
		line_fail(t->line, m->id, &e);
	if (got)
		return;
	done = calloc(1, sizeof(*done));
	if (!done) {
		loop_stop(t->loop);
		return;
	}
	done->type = TRACER_DONE;
	done->id = m->id;
	line_answer(t->line, done);
	free(done);
}

static void on_end(void *arg, const char *why)
{
	loop_stop(((struct tracer *)arg)->loop);
}

static void on_idle(void *arg)
{
	struct tracer *t = arg;

	if (tracees_count(t->tracees))
		loop_timer_arm(t->idle, TRACER_IDLE_NS);
	else
		loop_stop(t->loop);
}

static int open_parts(struct tracer *t, int fd, struct err *e)
{
	int rc = line_open(&(struct line_conf){ t->loop, fd, on_msg, on_end, t }, &t->line, e);

	if (rc)
		return rc;
	t->idle = loop_timer_new(t->loop, on_idle, t);
	if (!t->idle)
		return err_nomem(e);
	loop_timer_arm(t->idle, TRACER_IDLE_NS);
	return tracees_open(t->loop, t->line, &t->tracees, e);
}

int tracer_run(struct loop *loop, int fd, struct err *e)
{
	struct tracer t = { .loop = loop };
	int rc = open_parts(&t, fd, e);

	if (!rc)
		rc = loop_run(loop);
	tracees_close(t.tracees);
	line_close(t.line);
	loop_timer_free(t.idle);
	return rc;
}
