/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about threads that lm-trace executes. */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "lm/service/families.h"
#include "lm/helper/helper.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_TEXT_BYTES 1024 /* bytes of a module's or symbol's name that are sent */
#define FILL_REFUSED 2 /* beside SERVICE_WAITS and errors */
#define NO_REGISTER "reg is the number of a register, from 0"

/* One thread of a call, from the request to its entry. */
struct asked {
	struct tracing *owner;
	struct token token;
	struct helper_ask *ask; /* NULL: answered, or never asked */
	unsigned status;
	uint32_t nframe;
	bool is_value; /* the text is a value, else an error */
	struct buf text; /* owned */
};

/* A call that waits for lm-trace. */
struct tracing {
	struct task *task;
	struct helper *trace; /* borrowed */
	bool with_names;
	size_t n, left; /* left: missing answers */
	struct asked asked[];
};

static void tracing_free(void *arg)
{
	struct tracing *t = arg;

	for (size_t i = 0; i < t->n; i++) {
		helper_ask_forget(t->asked[i].ask);
		buf_done(&t->asked[i].text);
	}
	free(t);
}

static void set_words(struct asked *a, unsigned status, const char *words)
{
	buf_clear(&a->text);
	buf_puts(&a->text, words);
	a->status = status;
	a->is_value = false;
}

static void write_name(struct omis_writer *w, const char *name)
{
	char clean[FRAME_TEXT_BYTES];

	omis_write_string(w, str_escape(clean, sizeof(clean), name, strlen(name)));
}

static void write_frames(struct asked *a, const struct tracer_msg *m)
{
	struct omis_writer w = { .b = &a->text, .comma = a->nframe > 0 };

	for (size_t i = 0; i < m->nvalue / TRACER_FRAME_VALUES; i++) {
		const uint64_t *v = &m->value[i * TRACER_FRAME_VALUES];

		omis_write_list(&w);
		omis_write_int(&w, (int64_t)v[0]);
		omis_write_int(&w, (int64_t)v[1]);
		if (a->owner->with_names) {
			const char *const *text = &m->text[i * TRACER_FRAME_TEXTS];

			write_name(&w, text[0]);
			write_name(&w, text[1]);
			omis_write_int(&w, (int64_t)v[2]);
			write_name(&w, text[2]);
			omis_write_int(&w, (int64_t)v[3]);
		}
		omis_write_list_end(&w);
		a->nframe++;
	}
}

static void write_regs(struct asked *a, const struct tracer_msg *m)
{
	struct omis_writer w = OMIS_WRITER(&a->text);
	double d;

	omis_write_list(&w);
	for (size_t i = 0; i < m->nvalue; i++) {
		memcpy(&d, &m->value[i], sizeof(d));
		if (m->what == TRACER_REGS_FP)
			omis_write_float(&w, d);
		else
			omis_write_int(&w, (int64_t)m->value[i]);
	}
	omis_write_list_end(&w);
}

/* Returns false if more parts follow. */
static bool take_answer(struct asked *a, const struct tracer_msg *m)
{
	a->status = STATUS_OK;
	switch (m->type) {
	case TRACER_FRAMES:
		a->is_value = true;
		write_frames(a, m);
		return !m->what;
	case TRACER_REGS:
		a->is_value = true;
		write_regs(a, m);
		return true;
	case TRACER_DONE:
		return true;
	case TRACER_FAILED:
		set_words(a, status_from_err(-(int)m->what), m->text[0]);
		return true;
	default:
		set_words(a, STATUS_INTERNAL_ERROR, "lm-trace sent another message");
		return true;
	}
}

static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct asked *a = arg;

	if (!take_answer(a, m))
		return;
	a->ask = NULL;
	if (!--a->owner->left)
		task_go_on(a->owner->task);
}

static void ask_one(struct tracing *t, const struct object *o, const struct tracer_msg *like)
{
	struct asked *a = &t->asked[t->n++];
	struct tracer_msg *m = malloc(sizeof(*m));
	struct err e = { 0 };
	int rc = -ERR_NOTFOUND;

	*a = (struct asked){ .owner = t, .status = STATUS_OK };
	str_copy(a->token.s, sizeof(a->token.s), o->token);
	buf_init(&a->text, FRAME_MAX_BYTES / 2);
	if (!o->proc->held)
		err_set(&e, ERR_NOTFOUND, "the process has ended");
	else if (!m)
		rc = err_nomem(&e);
	if (!e.code) {
		*m = *like;
		m->pid = o->proc->pid;
		m->tid = o->thread->tid;
		m->start = o->proc->start;
		rc = helper_ask(t->trace, m, &(struct helper_reply){ on_answer, a }, &a->ask, &e);
	}
	if (rc)
		set_words(a, status_from_err(rc), e.text);
	else
		t->left++;
	free(m);
}

static int add_entry(struct service_call *c, struct asked *a)
{
	struct buf all = BUF_INIT(FRAME_MAX_BYTES);
	int rc;

	if (a->status != STATUS_OK)
		return reply_add_error(c->reply, c->action, a->token.s, a->status, "%s",
				       buf_str(&a->text));
	if (a->nframe)
		buf_printf(&all, "%u,", (unsigned)a->nframe);
	buf_put(&all, buf_str(&a->text), a->text.n);
	rc = all.failed || a->text.failed
		     ? -ERR_NOMEM
		     : reply_add_n(c->reply, c->action, a->token.s, STATUS_OK,
				   bytes_at(a->is_value ? (const char *)all.p : NULL,
					    a->is_value ? all.n : 0));
	buf_done(&all);
	return rc;
}

static int add_entries(struct service_call *c, struct tracing *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->n; i++)
		rc = add_entry(c, &t->asked[i]);
	reply_add_time(c->reply, call_now(c), call_now(c));
	return rc;
}

static int ask_all(struct service_call *c, const struct tracer_msg *like, bool with_names)
{
	struct objects o = { 0 };
	struct tracing *t = NULL;
	int rc = call_resolve(c, 't', &o);

	if (!rc)
		t = calloc(1, sizeof(*t) + o.n * sizeof(*t->asked));
	if (!t) {
		objects_done(&o);
		return rc ? rc : -ERR_NOMEM;
	}
	t->task = c->task;
	t->trace = c->of;
	t->with_names = with_names;
	for (size_t i = 0; i < o.n; i++)
		ask_one(t, &o.v[i], like);
	objects_done(&o);
	task_keep(c->task, t, tracing_free);
	return t->left ? SERVICE_WAITS : add_entries(c, t);
}

/* fill() makes the request for all threads; it is called once. */
static int serve(struct service_call *c, int (*fill)(struct service_call *, struct tracer_msg *),
		 bool with_names)
{
	struct tracer_msg *m;
	int got;

	if (c->retry)
		return add_entries(c, task_kept(c->task));
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ERR_NOMEM;
	got = fill(c, m);
	if (!got)
		got = ask_all(c, m, with_names);
	free(m);
	return got < 0 || got == SERVICE_WAITS ? got : 0;
}

/* An invalid parameter becomes an entry of the action. */
static int refuse(struct service_call *c, const char *words)
{
	int rc = reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR, "%s", words);

	return rc ? rc : FILL_REFUSED;
}

static int fill_backtrace(struct service_call *c, struct tracer_msg *m)
{
	m->type = TRACER_BACKTRACE;
	m->nvalue = 1;
	m->value[0] = (uint64_t)call_int(c, 1);
	return call_int(c, 1) < 0 ? refuse(c, "depth is a number of frames, or 0: all") : 0;
}

static int fill_names(struct service_call *c, struct tracer_msg *m)
{
	m->what = 1;
	return fill_backtrace(c, m);
}

static int fill_read(struct service_call *c, struct tracer_msg *m)
{
	int64_t n = call_int(c, 2);

	m->type = TRACER_READ_REGS;
	m->what = strstr(c->call->service->name, "_fp_") ? TRACER_REGS_FP : TRACER_REGS_INT;
	m->nvalue = 2;
	m->value[0] = (uint64_t)call_int(c, 1);
	m->value[1] = (uint64_t)n;
	if (call_int(c, 1) < 0)
		return refuse(c, NO_REGISTER);
	return n < 0 || n > TRACER_VALUES_MAX ? refuse(c, "num is a number of registers") : 0;
}

static int fill_write(struct service_call *c, struct tracer_msg *m)
{
	const struct omis_value *list = &c->call->param[2];
	bool is_fp = strstr(c->call->service->name, "_fp_");

	if (call_int(c, 1) < 0)
		return refuse(c, NO_REGISTER);
	if (!list->list.n || list->list.n >= TRACER_VALUES_MAX)
		return refuse(c, "values is a list of what the registers get");
	m->type = TRACER_WRITE_REGS;
	m->what = is_fp ? TRACER_REGS_FP : TRACER_REGS_INT;
	m->value[m->nvalue++] = (uint64_t)call_int(c, 1);
	for (size_t i = 0; i < list->list.n; i++) {
		int64_t v = 0;
		double d = 0;

		if (is_fp && omis_value_double(&list->list.v[i], &d))
			memcpy(&v, &d, sizeof(v));
		else
			omis_value_i64(&list->list.v[i], &v);
		m->value[m->nvalue++] = (uint64_t)v;
	}
	return 0;
}

static int fill_address(struct service_call *c, struct tracer_msg *m)
{
	m->type = strstr(c->call->service->name, "_call") ? TRACER_CALL : TRACER_GOTO;
	m->nvalue = 1;
	m->value[0] = (uint64_t)call_int(c, 1);
	return 0;
}

static int serve_backtrace(struct service_call *c)
{
	return serve(c, fill_backtrace, false);
}

static int serve_backtrace_names(struct service_call *c)
{
	return serve(c, fill_names, true);
}

static int serve_read_regs(struct service_call *c)
{
	return serve(c, fill_read, false);
}

static int serve_write_regs(struct service_call *c)
{
	return serve(c, fill_write, false);
}

static int serve_thread_goto(struct service_call *c)
{
	return serve(c, fill_address, false);
}

const struct service trace_services[] = {
	{ "omig_backtrace", serve_backtrace_names },
	{ "thread_call", serve_thread_goto },
	{ "thread_get_backtrace", serve_backtrace },
	{ "thread_goto", serve_thread_goto },
	{ "thread_read_fp_regs", serve_read_regs },
	{ "thread_read_int_regs", serve_read_regs },
	{ "thread_write_fp_regs", serve_write_regs },
	{ "thread_write_int_regs", serve_write_regs },
	{ NULL, NULL },
};
