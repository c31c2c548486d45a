/* SPDX-License-Identifier: Apache-2.0 */
/* Applications by name: several of them run under one mainsm. */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/omis/text/value.h"
#include "mainsm/service/expected.h"
#include "mainsm/service/service.h"

#include <string.h>

struct attaching {
	struct service_call *c;
	const char *job;
	int64_t n;
	int rc;
};

static void attach_node(struct attaching *a, const struct object *node)
{
	list_each (i, &node->children) {
		const struct object *proc = list_entry(i, struct object, sibling);

		if (!str_eq(proc->job, a->job))
			continue;
		a->n++;
		a->rc = scope_attach(a->c->session->scope, proc);
		if (a->rc < 0)
			return;
	}
}

static void attach_all(struct attaching *a)
{
	list_each (i, directory_sites(a->c->services->conf.directory))
		list_each (k, &list_entry(i, struct object, sibling)->children) {
			attach_node(a, list_entry(k, struct object, sibling));
			if (a->rc < 0)
				return;
		}
}

/* Names of jobs and of programs are candidates. */
static const char *nearest_job(const struct directory *d, const char *word)
{
	struct nearest near = nearest_to(word);

	list_each (i, directory_sites(d))
		list_each (k, &list_entry(i, struct object, sibling)->children)
			list_each (p, &list_entry(k, struct object, sibling)->children) {
				const struct object *o = list_entry(p, struct object, sibling);

				nearest_try(&near, o->job);
				nearest_try(&near, o->name);
			}
	return near.best;
}

static int unknown_job(struct service_call *c, const char *job)
{
	const char *near = nearest_job(c->services->conf.directory, job);
	char name[128];

	return reply_add_error(c->into, c->action, NULL, STATUS_UNKNOWN_OBJECT,
			       "no process is of a job '%s'%s%s%s",
			       str_escape(name, sizeof(name), job, strlen(job)),
			       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int job_attach(struct service_call *c)
{
	struct attaching a = { c, service_text(c, 0), 0, 0 };
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	uint64_t before = scope_version(c->session->scope);

	attach_all(&a);
	if (scope_version(c->session->scope) != before)
		service_follow(c);
	if (a.rc < 0)
		return a.rc;
	if (!a.n)
		return unknown_job(c, a.job);
	omis_write_int(&w, a.n);
	return service_value(c, NULL, &b);
}

/* --- finding a job by a name that a person writes */

#define FOUND_MAX 8 /* names of an error that people can choose from */

struct finding {
	const char *word;
	bool with_ended;
	bool is_exact;
	const char *found[FOUND_MAX]; /* distinct */
	size_t n; /* may be more */
};

static bool is_noted(const struct finding *f, const char *job)
{
	for (size_t i = 0; i < f->n && i < FOUND_MAX; i++)
		if (str_eq(f->found[i], job))
			return true;
	return false;
}

/* A batch system's job has steps: 4711 is 4711.0. */
static bool is_step_of(const char *job, const char *word)
{
	size_t n = strlen(word);

	return n && !strncmp(job, word, n) && job[n] == '.';
}

static void scan_process(struct finding *f, const struct object *proc)
{
	f->is_exact |= str_eq(proc->job, f->word);
	if (!proc->job[0] || (proc->state == MSG_STATE_ENDED && !f->with_ended))
		return;
	if (!is_step_of(proc->job, f->word) && !str_eq(proc->name, f->word))
		return;
	if (is_noted(f, proc->job))
		return;
	if (f->n < FOUND_MAX)
		f->found[f->n] = proc->job;
	f->n++;
}

static void scan_all(struct finding *f, const struct directory *d)
{
	list_each (i, directory_sites(d))
		list_each (k, &list_entry(i, struct object, sibling)->children)
			list_each (p, &list_entry(k, struct object, sibling)->children)
				scan_process(f, list_entry(p, struct object, sibling));
}

static int refuse_several(struct service_call *c, const struct finding *f)
{
	struct buf names = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	char word[128];
	int rc;

	for (size_t i = 0; i < f->n && i < FOUND_MAX; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", f->found[i]);
	rc = reply_add_error(c->into, c->action, NULL, STATUS_PARAMETER_ERROR,
			     "'%s' fits several jobs, choose one of them: %s%s",
			     str_escape(word, sizeof(word), f->word, strlen(f->word)),
			     buf_str(&names), f->n > FOUND_MAX ? ", ..." : "");
	buf_done(&names);
	return rc;
}

static void search(const struct service_call *c, struct finding *f)
{
	const struct directory *d = c->services->conf.directory;

	*f = (struct finding){ .word = service_text(c, 0) };
	scan_all(f, d);
	if (!f->is_exact && !f->n) {
		f->with_ended = true;
		scan_all(f, d);
	}
}

static bool has_processes(const struct directory *d)
{
	list_each (i, directory_sites(d))
		list_each (k, &list_entry(i, struct object, sibling)->children)
			if (!list_is_empty(&list_entry(k, struct object, sibling)->children))
				return true;
	return false;
}

static bool is_there(const struct service_call *c)
{
	struct finding f;

	if (!service_text(c, 0)[0])
		return has_processes(c->services->conf.directory);
	search(c, &f);
	return f.is_exact || f.n;
}

static int answer_job(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct finding f;

	search(c, &f);
	if (!f.is_exact && f.n > 1)
		return refuse_several(c, &f);
	omis_write_string(&w, f.is_exact ? f.word : f.n ? f.found[0] : "");
	return service_value(c, NULL, &b);
}

static int job_find(struct service_call *c)
{
	return expected_answer(
		c, &(struct expected_question){ service_text(c, 0), is_there, answer_job });
}

const struct service mainsm_job_services[] = {
	{ "omig_job_attach", job_attach },
	{ "omig_job_find", job_find },
	{ 0 },
};
