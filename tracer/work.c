/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/work.h"

#include "tracer/thread/call.h"

#include <stdlib.h>
#include <string.h>

struct work *work_new(const struct tracer_msg *m)
{
	struct work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	list_init(&w->link);
	w->id = m->id;
	w->type = m->type;
	w->what = m->what;
	w->who = (struct who){ m->pid, m->tid, m->start };
	w->nvalue = m->nvalue;
	memcpy(w->value, m->value, m->nvalue * sizeof(*m->value));
	return w;
}

void work_free(struct work *w)
{
	list_del(&w->link);
	stack_done(&w->stack);
	free(w);
}

static unsigned first_of(const struct work *w)
{
	return w->value[0] < TRACER_VALUES_MAX ? (unsigned)w->value[0] : TRACER_VALUES_MAX;
}

static int read_regs(struct work *w)
{
	unsigned first = first_of(w);
	size_t n = w->value[1] <= TRACER_VALUES_MAX ? (size_t)w->value[1] : TRACER_VALUES_MAX + 1;

	w->nvalue = 0;
	if ((w->what == TRACER_REGS_FP ? fpregs_get : regs_get)(w->who.tid, first, n, w->value,
								&w->e) < 0)
		return -1;
	w->nvalue = n;
	return 0;
}

static int write_regs(struct work *w)
{
	return (w->what == TRACER_REGS_FP ? fpregs_set : regs_set)(
		w->who.tid, first_of(w), w->nvalue - 1, w->value + 1, &w->e);
}

bool work_changes(const struct work *w)
{
	return w->type == TRACER_WRITE_REGS || w->type == TRACER_GOTO || w->type == TRACER_CALL;
}

void work_collect(struct work *w)
{
	switch (w->type) {
	case TRACER_BACKTRACE:
		w->rc = stack_take(&w->stack, w->who.pid, w->who.tid, &w->e);
		break;
	case TRACER_READ_REGS:
		w->rc = read_regs(w);
		break;
	case TRACER_WRITE_REGS:
		w->rc = write_regs(w);
		break;
	case TRACER_GOTO:
		w->rc = regs_goto(w->who.tid, w->value[0], &w->e);
		break;
	case TRACER_CALL:
		w->rc = call_insert(w->who.pid, w->who.tid, w->value[0], &w->e);
		break;
	default:
		w->rc = err_set(&w->e, ERR_INTERNAL, "this work has no known kind");
	}
}

/* Templates make names too long to read, and the stacks of many threads must fit the line's
 * queue. */
#define NAME_CUT_BYTES 512

/* The texts of one message. */
struct names {
	char text[TRACER_FRAMES_PART * TRACER_FRAME_TEXTS][NAME_CUT_BYTES];
};

static void put_name(struct tracer_msg *m, struct names *names, const char *name)
{
	char *to = names->text[m->ntext];
	size_t n = strnlen(name, NAME_CUT_BYTES);

	if (n == NAME_CUT_BYTES)
		for (n--; n && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
			; /* characters stay whole */
	memcpy(to, name, n);
	to[n] = 0;
	m->text[m->ntext++] = to;
}

static void put_frame(struct tracer_msg *m, struct names *names, const struct frame *f)
{
	m->value[m->nvalue++] = f->pc;
	m->value[m->nvalue++] = f->fp;
	m->value[m->nvalue++] = f->offset;
	m->value[m->nvalue++] = f->line;
	put_name(m, names, f->module);
	put_name(m, names, f->symbol);
	put_name(m, names, f->file);
}

static int answer_frames(struct work *w, struct unwinder *u, struct line *l, struct tracer_msg *m)
{
	struct frames f = { .n = w->value[0] && w->value[0] < TRACER_FRAMES_MAX
					 ? (size_t)w->value[0]
					 : TRACER_FRAMES_MAX,
			    .has_names = w->what };
	struct names *names = malloc(sizeof(*names));
	int rc;

	f.v = calloc(f.n, sizeof(*f.v));
	rc = f.v && names ? unwinder_run(u, w->who.start, &w->stack, &f, &w->e) : err_nomem(&w->e);

	m->type = TRACER_FRAMES;
	for (size_t i = 0; !rc && i < f.n; i++) {
		put_frame(m, names, &f.v[i]);
		m->what = i + 1 < f.n;
		if (m->what && m->nvalue < TRACER_FRAMES_PART * TRACER_FRAME_VALUES)
			continue;
		line_answer(l, m);
		m->nvalue = m->ntext = 0;
	}
	free(names);
	free(f.v);
	return rc;
}

static int answer(struct work *w, struct unwinder *u, struct line *l, struct tracer_msg *m)
{
	m->id = w->id;
	m->pid = w->who.pid;
	m->tid = w->who.tid;
	m->start = w->who.start;
	if (w->type == TRACER_BACKTRACE)
		return answer_frames(w, u, l, m);
	m->type = TRACER_DONE;
	if (w->type == TRACER_READ_REGS) {
		m->type = TRACER_REGS;
		m->what = w->what;
		m->nvalue = w->nvalue;
		memcpy(m->value, w->value, w->nvalue * sizeof(*m->value));
	}
	line_answer(l, m);
	return 0;
}

void work_answer(struct work *w, struct unwinder *u, struct line *l)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));

	if (w->rc == 0)
		w->rc = m ? answer(w, u, l, m) : err_nomem(&w->e);
	if (w->rc < 0)
		line_fail(l, w->id, &w->e);
	free(m);
	work_free(w);
}
