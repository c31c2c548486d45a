/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/functions.h"

#include "common/base/buf.h"
#include "common/ring/seg.h"
#include "tracer/freeze.h"
#include "tracer/function/plan.h"
#include "tracer/function/symbols.h"
#include "tracer/thread/call.h"
#include "tracer/thread/maps.h"
#include "tracer/thread/regs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#define REACH_BYTES (INT64_C(1) << 30) /* of a jump, with room for the function and the area */
/* of a stack that is searched for addresses in the bytes that change; a deeper one is refused */
#define STACK_SEARCH_MAX_BYTES (64u << 20)
#define STACK_STEP_BYTES (64 * 1024)
#define STACKS_MAX 8 /* of one thread: handlers of signals may have a stack of their own */
/* Offset of the interrupted stack pointer in a signal frame, behind the return address. */
#define SIGNAL_SP_BYTES (8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]))
/* A thread leaves some bytes of code within microseconds, if it runs. */
#define TRIES 40
#define PAUSE_FIRST_US 500
#define PAUSE_LAST_US 50000 /* the program runs at least this long between long stops */

/* One request, while it is handled. */
struct change {
	struct tracees *tracees;
	struct who who;
	const uint64_t *value; /* of the message: enum value_at */
	struct function_code code;
	struct plan plan;
	struct call_ways ways;
	struct buf maps;
	struct freeze *freeze;
	uint8_t now[FUNCTION_MAX_BYTES + FUNCTION_PADDING_BYTES + PLAN_JUMP_BYTES];
	uint8_t area[SEG_FUNCTION_AREA_BYTES];
	uint64_t area_at;
	uint64_t stack[STACK_STEP_BYTES / sizeof(uint64_t)];
};

enum value_at { SLOT, OTHERS, ENTER, EXIT, AREA };

/* --- memory of the process */

static bool is_code(const struct change *c, uint64_t at)
{
	struct maps_region r;

	return maps_find(&c->maps, at, &r) && r.is_file && r.rights[0] == 'r' && r.rights[2] == 'x';
}

/* The memory that libomig has reserved, and nothing else. */
static bool is_area(const struct change *c, uint64_t at)
{
	struct maps_region r;

	return at && maps_find(&c->maps, at, &r) && !r.is_file && !strcmp(r.rights, "r-xp") &&
	       r.to - at >= SEG_FUNCTION_AREA_BYTES;
}

static bool is_near(uint64_t a, uint64_t b)
{
	int64_t by = (int64_t)(a - b);

	return by < REACH_BYTES && by > -REACH_BYTES;
}

static int choose_area(struct change *c, struct err *e)
{
	if (!is_code(c, c->value[ENTER]) || !is_code(c, c->value[EXIT]))
		return err_set(e, ERR_UNSUPPORTED, "libomig of the process offers no entry");
	for (unsigned i = 0; i < SEG_FUNCTION_AREAS; i++) {
		c->area_at = c->value[AREA + i];
		if (is_area(c, c->area_at) && is_near(c->area_at, c->code.part[0].at))
			return 0;
	}
	return err_set(e, ERR_UNSUPPORTED,
		       "the process has no memory for code within reach of the function");
}

/* --- the code as it is */

/* Compares with the file: what another tool has changed is left alone. */
static int check_code(struct change *c, struct err *e)
{
	for (unsigned i = 0; i < FUNCTION_PARTS; i++) {
		const struct function_part *p = &c->code.part[i];
		int rc = p->n ? freeze_read(c->freeze, p->at, c->now, p->n + p->padding, e) : 0;

		if (rc)
			return rc;
		if (p->n && memcmp(c->now, p->bytes, p->n + p->padding) != 0)
			return err_set(e, ERR_UNSUPPORTED,
				       "its code differs from its file: it is on already, another "
				       "tool has changed it, or the file was replaced");
	}
	return 0;
}

/* No place is used twice, since a thread may still be in it. */
static int choose_place(struct change *c, struct plan_target *t, struct err *e)
{
	size_t n = SEG_FUNCTION_AREA_BYTES;
	int rc = freeze_read(c->freeze, c->area_at, c->area, SEG_FUNCTION_AREA_BYTES, e);

	if (rc)
		return rc;
	while (n && !c->area[n - 1])
		n--;
	n = (n + PLAN_ALIGN_BYTES - 1) / PLAN_ALIGN_BYTES * PLAN_ALIGN_BYTES;
	if (n + PLAN_AREA_BYTES > SEG_FUNCTION_AREA_BYTES)
		return err_set(e, ERR_LIMIT,
			       "the memory for code is used up: too many functions were chosen "
			       "since the process began");
	*t = (struct plan_target){ .enter = c->value[ENTER],
				   .exit = c->value[EXIT],
				   .place = c->area_at + n };
	n = n / PLAN_ALIGN_BYTES * SEG_FUNCTION_AREAS + (c->area_at != c->value[AREA]);
	t->id = SEG_FUNCTION_ID(c->value[SLOT], n);
	return 0;
}

/* --- threads in the bytes that change */

/* True for an address behind the first instruction of a place that changes. */
static bool is_inside(const struct change *c, uint64_t at)
{
	for (size_t i = 0; i < c->plan.nsite; i++)
		if (at > c->plan.site[i].at && at < c->plan.site[i].at + c->plan.site[i].n)
			return true;
	return false;
}

/* The stacks of one thread that are in use: the present one, and those that signals interrupted. */
struct stacks {
	size_t n;
	uint64_t sp[STACKS_MAX], end[STACKS_MAX]; /* end: 0 until it was searched */
};

static int add_interrupted(struct change *c, uint64_t frame, struct stacks *s, struct err *e)
{
	uint64_t sp = 0;

	/* A word that only looks like the way back. */
	if (freeze_read(c->freeze, frame + SIGNAL_SP_BYTES, &sp, sizeof(sp), NULL))
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (sp >= s->sp[i] && sp <= s->end[i])
			return 0;
	if (s->n == STACKS_MAX)
		return err_set(e, ERR_UNSUPPORTED, "a thread has too many stacks in use");
	s->sp[s->n] = sp;
	s->end[s->n++] = 0;
	return 0;
}

static int check_words(struct change *c, uint64_t at, size_t n, struct stacks *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		if (is_inside(c, c->stack[i]))
			return err_set(e, ERR_AGAIN, "a thread stays in the bytes that change");
		if (c->stack[i] == c->ways.back)
			rc = add_interrupted(c, at + i * sizeof(c->stack[0]), s, e);
	}
	return rc;
}

/*
 * A handler of signals has the interrupted address on its stack. So any word there that looks like
 * one counts.
 */
static int check_stack(struct change *c, struct stacks *s, size_t number, struct err *e)
{
	uint64_t sp = s->sp[number] & ~UINT64_C(7);
	struct maps_region m;
	int rc = 0;

	if (!maps_find(&c->maps, sp, &m) || m.to - sp > STACK_SEARCH_MAX_BYTES)
		return err_set(e, ERR_UNSUPPORTED, "the stack of a thread is not known");
	s->end[number] = m.to;
	for (; !rc && sp < m.to; sp += STACK_STEP_BYTES) {
		size_t n = m.to - sp < STACK_STEP_BYTES ? (size_t)(m.to - sp) : STACK_STEP_BYTES;

		rc = freeze_read(c->freeze, sp, c->stack, n, e);
		if (!rc)
			rc = check_words(c, sp, n / sizeof(c->stack[0]), s, e);
	}
	return rc;
}

static int check_thread(struct change *c, int32_t tid, struct err *e)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };
	struct stacks s = { .n = 1 };
	int rc = 0;

	/* NT_PRSTATUS */
	if (ptrace(PTRACE_GETREGSET, tid, 1, &v) < 0 || v.iov_len != sizeof(r))
		return err_set(e, ERR_UNSUPPORTED, "a thread is not of a 64-bit program");
	if (is_inside(c, r.rip))
		return err_set(e, ERR_AGAIN, "a thread stays in the bytes that change");
	/* A handler that returns has left its way back below the stack already. */
	s.sp[0] = r.rsp - sizeof(c->stack[0]);
	for (size_t i = 0; !rc && i < s.n; i++)
		rc = check_stack(c, &s, i, e);
	return rc;
}

static int check_threads(struct change *c, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < freeze_count(c->freeze); i++)
		rc = check_thread(c, freeze_tid(c->freeze, i), e);
	return rc;
}

/* --- off */

/* The padding behind a part changes too. */
static int restore(struct change *c, struct err *e)
{
	for (unsigned i = 0; i < FUNCTION_PARTS; i++) {
		const struct function_part *p = &c->code.part[i];
		int rc = p->n ? freeze_write(c->freeze, p->at, p->bytes, p->n + p->padding, e) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* Position of the jump into the area that has this byte, or -1. */
static int64_t jump_at(const struct change *c, const struct function_part *p, size_t at)
{
	for (size_t back = 0; back < PLAN_JUMP_BYTES && back <= at; back++) {
		const uint8_t *jump = c->now + at - back;
		int32_t by;

		memcpy(&by, jump + 1, sizeof(by));
		if (*jump == PLAN_JUMP && at - back + PLAN_JUMP_BYTES <= p->n + p->padding &&
		    p->at + (at - back) + PLAN_JUMP_BYTES + (uint64_t)(int64_t)by - c->area_at <
			    SEG_FUNCTION_AREA_BYTES)
			return (int64_t)(at - back);
	}
	return -1;
}

/* Each difference from the file must be a jump into the area: ours. */
static int check_ours(struct change *c, struct err *e)
{
	for (unsigned i = 0; i < FUNCTION_PARTS; i++) {
		const struct function_part *p = &c->code.part[i];
		size_t n = p->n + p->padding;
		int rc = p->n ? freeze_read(c->freeze, p->at, c->now, n, e) : 0;

		for (size_t at = 0; !rc && p->n && at < n; at++) {
			int64_t jump = c->now[at] == p->bytes[at] ? (int64_t)at : jump_at(c, p, at);

			if (jump < 0)
				return err_set(e, ERR_UNSUPPORTED,
					       "its code was changed by another tool, too");
			if (c->now[at] != p->bytes[at])
				at = (size_t)jump + PLAN_JUMP_BYTES - 1;
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int switch_off(struct change *c, struct err *e)
{
	int rc = check_ours(c, e);

	return rc ? rc : restore(c, e);
}

/* --- on */

/* First what is jumped to, last the entry. What a failure leaves half done is undone. */
static int write_plan(struct change *c, struct err *e)
{
	int rc = freeze_write(c->freeze, c->plan.at, c->plan.code, c->plan.n, e);

	for (size_t i = 0; !rc && i < c->plan.nsite; i++)
		rc = freeze_write(c->freeze, c->plan.site[i].at, c->plan.site[i].bytes,
				  c->plan.site[i].n, e);
	if (rc)
		restore(c, NULL);
	return rc;
}

/* True if the function is that of another slot, under another name. */
static bool is_of_others(struct change *c)
{
	struct plan_entry entry;
	uint32_t id;

	if (freeze_read(c->freeze, c->code.part[0].at, c->now, c->code.part[0].n, NULL) ||
	    !plan_find_entry(&c->code, c->now, &entry) ||
	    entry.to - c->area_at >= SEG_FUNCTION_AREA_BYTES ||
	    freeze_read(c->freeze, entry.to, entry.call, sizeof(entry.call), NULL) ||
	    !plan_find_id(&entry, &id))
		return false;
	return c->value[OTHERS] >> SEG_FUNCTION_SLOT(id) & 1;
}

/* An lm that died may have left the function on. */
static int restore_left(struct change *c, struct err *e)
{
	struct err ours = { 0 };

	if (!check_code(c, e))
		return 0;
	if (check_ours(c, &ours))
		return -(int)e->code;
	return is_of_others(c) ? err_set(e, ERR_INVALID, "it is on already, under another name")
			       : restore(c, e);
}

static int switch_on(struct change *c, struct err *e)
{
	struct plan_target target;
	int rc = restore_left(c, e);

	if (!rc)
		rc = choose_place(c, &target, e);
	if (!rc)
		rc = plan_make(&c->code, &target, &c->plan, e);
	if (!rc)
		rc = check_threads(c, e);
	return rc ? rc : write_plan(c, e);
}

/* --- */

static int change_once(struct change *c, int (*fn)(struct change *c, struct err *e), struct err *e)
{
	int rc = freeze_begin(c->tracees, &c->who, &c->freeze, e);

	if (rc)
		return rc;
	rc = maps_read(c->who.pid, &c->maps, e);
	if (!rc)
		rc = choose_area(c, e);
	if (!rc)
		rc = fn(c, e);
	freeze_end(c->freeze);
	return rc;
}

static int change(struct change *c, const struct tracer_msg *m,
		  int (*fn)(struct change *c, struct err *e), struct err *e)
{
	useconds_t pause = PAUSE_FIRST_US;
	int rc = symbols_find(m->pid, m->text[0], &c->code, e);

	if (rc && rc != -ERR_UNSUPPORTED)
		return rc;
	if (!rc)
		rc = call_find_ways(m->pid, &c->ways, e);
	if (!rc)
		rc = change_once(c, fn, e);
	for (unsigned i = 1; freeze_is_transient(rc) && i < TRIES; i++) {
		usleep(pause);
		pause = pause * 2 < PAUSE_LAST_US ? pause * 2 : PAUSE_LAST_US;
		rc = change_once(c, fn, e);
	}
	if (rc)
		err_add(e, "%.128s", m->text[0]);
	return rc;
}

static int execute(struct tracees *s, const struct tracer_msg *m,
		   int (*fn)(struct change *c, struct err *e), struct tracer_msg *answer,
		   struct err *e)
{
	struct change *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return err_nomem(e);
	c->tracees = s;
	c->who = (struct who){ m->pid, m->pid, m->start };
	c->value = m->value;
	c->maps = (struct buf)BUF_INIT(MAPS_MAX_BYTES);
	rc = change(c, m, fn, e);
	if (!rc && answer) {
		answer->value[0] = c->code.part[0].at;
		answer->value[1] = c->plan.way;
		answer->value[2] = c->code.ncopy;
		answer->value[3] = c->code.nclone;
		answer->nvalue = 4;
	}
	buf_done(&c->maps);
	free(c);
	return rc;
}

int tracer_function_on(struct tracees *s, const struct tracer_msg *m, struct tracer_msg *answer,
		       struct err *e)
{
	return execute(s, m, switch_on, answer, e);
}

int tracer_function_off(struct tracees *s, const struct tracer_msg *m, struct err *e)
{
	return execute(s, m, switch_off, NULL, e);
}
