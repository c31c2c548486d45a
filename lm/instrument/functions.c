/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/functions.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "lm/helper/helper.h"

#include <stdlib.h>
#include <string.h>

#define TOOLS_MAX 64 /* tools of one function: the number of sessions of a monitor */

struct functions {
	struct procs *procs;
	struct helper *trace;
	struct procs_listener listener;
};

struct proc_functions {
	struct list all;
};

enum stage { STARTING, ON, STOPPING };

struct function {
	struct list link; /* proc_functions.all */
	struct functions *owner;
	struct proc *proc;
	char name[FUNCTION_NAME_MAX_BYTES];
	unsigned slot;
	enum stage stage;
	uint64_t address;
	bool is_sled;
	uint64_t ncopy, nclone;
	uint32_t tool[TOOLS_MAX];
	size_t ntool;
	struct helper_ask *ask;
	struct list waits;
};

struct function_wait {
	struct list link; /* function.waits */
	struct function_answer answer;
};

void function_state(const struct function *f, struct function_state *out)
{
	*out = (struct function_state){ .name = f->name,
					.slot = f->slot,
					.address = f->address,
					.is_sled = f->is_sled,
					.is_on = f->stage == ON,
					.ntool = f->ntool,
					.ncopy = f->ncopy,
					.nclone = f->nclone };
}

/* --- the functions of a process */

const struct function *functions_next(const struct proc *p, const struct function *after)
{
	const struct list *i;

	if (!p->functions)
		return NULL;
	i = after ? after->link.next : p->functions->all.next;
	return i == &p->functions->all ? NULL : list_entry(i, struct function, link);
}

static struct function *find(const struct proc *p, const char *name)
{
	if (!p->functions)
		return NULL;
	list_each (i, &p->functions->all) {
		struct function *f = list_entry(i, struct function, link);

		if (str_eq(f->name, name))
			return f;
	}
	return NULL;
}

const struct function *functions_find(const struct proc *p, const char *name)
{
	const struct function *f = find(p, name);

	return f && f->stage == ON ? f : NULL;
}

/* Sends the reply to each waiting request. A callback must not drop other requests. */
static void answer(struct function *f, int rc, const struct err *e)
{
	list_each_safe (i, &f->waits) {
		struct function_wait *w = list_entry(i, struct function_wait, link);

		list_del(&w->link);
		w->answer.fn(w->answer.arg, rc, f, e);
		free(w);
	}
}

static void forget(struct function *f)
{
	struct proc *p = f->proc;

	helper_ask_forget(f->ask);
	if (p->seg)
		segview_function_drop(p->seg, f->slot);
	list_del(&f->link);
	free(f);
	if (!list_is_empty(&p->functions->all))
		return;
	free(p->functions);
	p->functions = NULL;
}

static struct function *add(struct functions *s, struct proc *p, const char *name, struct err *e)
{
	struct function *f = calloc(1, sizeof(*f));
	int rc = -ERR_NOMEM;

	if (f && !p->functions) {
		p->functions = calloc(1, sizeof(*p->functions));
		if (p->functions)
			list_init(&p->functions->all);
	}
	if (f && p->functions)
		rc = segview_function_take(p->seg, &f->slot);
	if (!rc && str_copy(f->name, sizeof(f->name), name)) {
		f->owner = s;
		f->proc = p;
		list_init(&f->waits);
		list_push_back(&p->functions->all, &f->link);
		return f;
	}
	free(f);
	if (p->functions && list_is_empty(&p->functions->all)) {
		free(p->functions);
		p->functions = NULL;
	}
	if (rc == -ERR_UNSUPPORTED)
		err_set(e, ERR_UNSUPPORTED,
			"the process can have no entries of functions: it needs libomig of this "
			"version, an x86-64 processor and an invariant clock");
	else if (rc == -ERR_LIMIT)
		err_set(e, ERR_LIMIT, "%d functions are on in the process, more do not fit",
			SEG_FUNCTIONS);
	else
		err_nomem(e);
	return NULL;
}

/* --- lm-trace */

static uint64_t other_slots(const struct function *f)
{
	uint64_t slots = 0;

	list_each (i, &f->proc->functions->all) {
		const struct function *other = list_entry(i, struct function, link);

		if (other != f)
			slots |= UINT64_C(1) << other->slot;
	}
	return slots;
}

static int ask(struct function *f, unsigned type, helper_answer_fn fn, struct err *e)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	struct seg_own own;
	int rc;

	if (!m)
		return err_nomem(e);
	segview_own(f->proc->seg, &own);
	m->type = (uint8_t)type;
	m->pid = f->proc->pid;
	m->start = f->proc->start;
	m->text[m->ntext++] = f->name;
	m->value[m->nvalue++] = f->slot;
	m->value[m->nvalue++] = other_slots(f);
	m->value[m->nvalue++] = own.function_enter;
	m->value[m->nvalue++] = own.function_exit;
	for (unsigned i = 0; i < SEG_FUNCTION_AREAS; i++)
		m->value[m->nvalue++] = own.function_area[i];
	rc = helper_ask(f->owner->trace, m, &(struct helper_reply){ fn, f }, &f->ask, e);
	free(m);
	return rc;
}

static void on_off(void *arg, const struct tracer_msg *m)
{
	struct function *f = arg;

	f->ask = NULL;
	if (m->type == TRACER_FAILED)
		log_warn("lm", "a function stays changed, and does nothing name=%s pid=%d: %s",
			 f->name, (int)f->proc->pid, m->text[0]);
	forget(f);
}

static void stop(struct function *f)
{
	struct err e = { 0 };

	f->stage = STOPPING;
	if (f->proc->seg && f->proc->held && !ask(f, TRACER_FUNCTION_OFF, on_off, &e))
		return;
	log_warn("lm", "a function stays changed, and does nothing name=%s pid=%d: %s", f->name,
		 (int)f->proc->pid, e.text);
	forget(f);
}

static void on_on(void *arg, const struct tracer_msg *m)
{
	struct function *f = arg;
	struct err e = { 0 };

	f->ask = NULL;
	if (m->type == TRACER_FUNCTION) {
		f->address = m->value[0];
		f->is_sled = m->value[1] != 0;
		f->ncopy = m->value[2];
		f->nclone = m->value[3];
		f->stage = ON;
		answer(f, 0, NULL);
		if (!f->ntool)
			stop(f);
		return;
	}
	err_set(&e, m->type == TRACER_FAILED ? (enum err_code)m->what : ERR_INTERNAL, "%s",
		m->type == TRACER_FAILED ? m->text[0] : "lm-trace sent an unexpected answer");
	answer(f, -(int)e.code, &e);
	forget(f);
}

/* --- requests */

static bool has_tool(const struct function *f, uint32_t tool)
{
	for (size_t i = 0; i < f->ntool; i++)
		if (f->tool[i] == tool)
			return true;
	return false;
}

static bool drop_tool(struct function *f, uint32_t tool)
{
	for (size_t i = 0; i < f->ntool; i++) {
		if (f->tool[i] != tool)
			continue;
		f->tool[i] = f->tool[--f->ntool];
		return true;
	}
	return false;
}

static int join(struct function *f, const struct function_ask *a, struct function_wait **out,
		struct err *e)
{
	uint32_t tool = a->tool;

	if (f->stage == STOPPING)
		return err_set(e, ERR_AGAIN, "the function is being switched off: ask again");
	if (!has_tool(f, tool) && f->ntool == TOOLS_MAX)
		return err_set(e, ERR_LIMIT, "%d tools have switched it on", TOOLS_MAX);
	*out = NULL;
	if (f->stage == STARTING) {
		*out = calloc(1, sizeof(**out));
		if (!*out)
			return err_nomem(e);
		(*out)->answer = a->answer;
		list_push_back(&f->waits, &(*out)->link);
	}
	if (!has_tool(f, tool))
		f->tool[f->ntool++] = tool;
	return 0;
}

int functions_on(struct functions *s, struct proc *p, const struct function_ask *a,
		 struct function_wait **out, struct err *e)
{
	struct function *f = find(p, a->name);
	bool is_new = !f;
	int rc;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	if (!p->seg)
		return err_set(e, ERR_NOTFOUND, PROC_WITHOUT_SEGMENT);
	if (strlen(a->name) >= FUNCTION_NAME_MAX_BYTES || !*a->name)
		return err_set(e, ERR_INVALID, "a name of a function has 1 to %d bytes",
			       FUNCTION_NAME_MAX_BYTES - 1);
	if (is_new)
		f = add(s, p, a->name, e);
	if (!f)
		return -(int)e->code;
	rc = join(f, a, out, e);
	if (!rc && is_new)
		rc = ask(f, TRACER_FUNCTION_ON, on_on, e);
	if (rc && is_new) {
		functions_wait_drop(*out);
		*out = NULL;
		forget(f);
	}
	return rc;
}

void functions_wait_drop(struct function_wait *w)
{
	if (!w)
		return;
	list_del(&w->link);
	free(w);
}

static void leave(struct function *f)
{
	if (!f->ntool && f->stage == ON)
		stop(f);
}

int functions_off(struct functions *s, struct proc *p, uint32_t tool, const char *name)
{
	struct function *f = find(p, name);

	if (!f || !drop_tool(f, tool))
		return -ERR_NOTFOUND;
	leave(f);
	return 0;
}

void functions_tool_gone(struct functions *s, uint32_t tool)
{
	list_each (i, procs_all(s->procs)) {
		struct proc *p = list_entry(i, struct proc, link);
		struct function *f = (struct function *)functions_next(p, NULL), *next;

		for (; f; f = next) {
			next = (struct function *)functions_next(p, f);
			if (drop_tool(f, tool))
				leave(f);
		}
	}
}

/* --- */

static void end_all(struct proc *p, const char *why)
{
	struct err e = { 0 };
	struct function *f;

	err_set(&e, ERR_NOTFOUND, "%s", why);
	while ((f = (struct function *)functions_next(p, NULL)) != NULL) {
		answer(f, -ERR_NOTFOUND, &e);
		forget(f);
	}
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	if (what == PROC_ENDING || what == PROC_DETACHING || what == PROC_RENEWED)
		end_all(p, "the process has ended");
}

struct functions *functions_new(struct procs *p, struct helper *trace)
{
	struct functions *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->procs = p;
	s->trace = trace;
	s->listener = (struct procs_listener){ .on_proc = on_proc, .arg = s };
	procs_listen(p, &s->listener);
	return s;
}

void functions_free(struct functions *s)
{
	if (!s)
		return;
	list_each (i, procs_all(s->procs))
		end_all(list_entry(i, struct proc, link), "the lm ends");
	procs_unlisten(&s->listener);
	free(s);
}
