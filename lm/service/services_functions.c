/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and exits of functions, switched on in processes that run. */
#include "lm/service/families.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "lm/instrument/functions.h"

#include <stdlib.h>

#define REASON_BYTES 1024 /* a list of functions with one name */

/* One process of a call, from the request to its entry. */
struct asked {
	struct switching *owner;
	struct token token;
	struct function_wait *wait; /* NULL: answered */
	int rc;
	uint64_t address;
	bool is_sled;
	uint64_t ncopy, nclone;
	char reason[REASON_BYTES];
};

struct switching {
	struct task *task;
	size_t n, left;
	struct asked asked[];
};

static void switching_free(void *arg)
{
	struct switching *t = arg;

	for (size_t i = 0; i < t->n; i++)
		functions_wait_drop(t->asked[i].wait);
	free(t);
}

static void note(struct asked *a, int rc, const struct function *f, const struct err *e)
{
	struct function_state s;

	a->rc = rc;
	if (rc) {
		str_escape(a->reason, sizeof(a->reason), e->text, strlen(e->text));
		return;
	}
	function_state(f, &s);
	a->address = s.address;
	a->is_sled = s.is_sled;
	a->ncopy = s.ncopy;
	a->nclone = s.nclone;
}

static void on_answer(void *arg, int rc, const struct function *f, const struct err *e)
{
	struct asked *a = arg;

	a->wait = NULL;
	note(a, rc, f, e);
	if (!--a->owner->left)
		task_go_on(a->owner->task);
}

static void ask_one(struct service_call *c, struct switching *t, struct proc *p)
{
	struct asked *a = &t->asked[t->n++];
	const char *name = call_text(c, 1);
	struct err e = { 0 };
	int rc;

	a->owner = t;
	str_copy(a->token.s, sizeof(a->token.s), p->token.s);
	rc = functions_on(c->of, p, &(struct function_ask){ c->tool, name, { on_answer, a } },
			  &a->wait, &e);
	if (a->wait)
		t->left++;
	else
		note(a, rc, functions_find(p, name), &e);
}

static int add_entry(struct service_call *c, const struct asked *a)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	if (a->rc)
		return reply_add_error(c->reply, c->action, a->token.s, status_from_err(a->rc),
				       "%s", a->reason);
	omis_write_int(&w, (int64_t)a->address);
	omis_write_string(&w, a->is_sled ? "sled" : "moved");
	omis_write_int(&w, (int64_t)a->ncopy);
	omis_write_int(&w, (int64_t)a->nclone);
	return call_add_values(c, a->token.s, &b);
}

static int add_entries(struct service_call *c, const struct switching *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->n; i++)
		rc = add_entry(c, &t->asked[i]);
	reply_add_time(c->reply, call_now(c), call_now(c));
	return rc;
}

static int serve_function_on(struct service_call *c)
{
	struct objects o = { 0 };
	struct switching *t = NULL;
	int rc;

	if (c->retry)
		return add_entries(c, task_kept(c->task));
	rc = call_resolve(c, 'p', &o);
	if (!rc)
		t = calloc(1, sizeof(*t) + o.n * sizeof(*t->asked));
	if (!t) {
		objects_done(&o);
		return rc ? rc : -ERR_NOMEM;
	}
	t->task = c->task;
	for (size_t i = 0; i < o.n; i++)
		ask_one(c, t, o.v[i].proc);
	objects_done(&o);
	task_keep(c->task, t, switching_free);
	return t->left ? SERVICE_WAITS : add_entries(c, t);
}

static int off_one(struct service_call *c, struct proc *p, struct err *e)
{
	return functions_off(c->of, p, c->tool, call_text(c, 1))
		       ? err_set(e, ERR_NOTFOUND, "this tool has not switched it on")
		       : 0;
}

static int serve_function_off(struct service_call *c)
{
	return call_each_proc(c, off_one);
}

static int list_one(struct service_call *c, struct proc *p)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	const struct function *f = functions_next(p, NULL);
	struct function_state s;

	for (; f; f = functions_next(p, f)) {
		char clean[2 * FUNCTION_NAME_MAX_BYTES];

		function_state(f, &s);
		omis_write_list(&w);
		omis_write_string(&w, str_escape(clean, sizeof(clean), s.name, strlen(s.name)));
		omis_write_int(&w, (int64_t)s.address);
		omis_write_string(&w, s.is_sled ? "sled" : "moved");
		omis_write_int(&w, s.is_on);
		omis_write_int(&w, (int64_t)s.ntool);
		omis_write_list_end(&w);
	}
	return call_add_values(c, p->token.s, &b);
}

static int serve_function_list(struct service_call *c)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'p', &o);

	for (size_t i = 0; !rc && i < o.n; i++)
		rc = list_one(c, o.v[i].proc);
	objects_done(&o);
	return rc;
}

const struct service function_services[] = {
	{ "omig_function_list", serve_function_list },
	{ "omig_function_off", serve_function_off },
	{ "omig_function_on", serve_function_on },
	{ NULL, NULL },
};
