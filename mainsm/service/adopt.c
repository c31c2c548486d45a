/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaches a process by its pid. The lm registers a process that is not watched yet. The service
 * waits for the report of the process, so that a tool that gets the token can use it.
 */
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/check.h"
#include "common/omis/text/token.h"
#include "mainsm/service/expected.h"
#include "mainsm/service/service.h"

#include <stdlib.h>
#include <string.h>

/* The text is the same for an unknown process and for one of another user. */
#define NO_SUCH_PROCESS "there is no process of this user with that pid and program"

struct adoption {
	struct service_call c; /* .run NULL: no request waits for it */
	struct list runs; /* the request to the lms */
	struct list in_adoptions; /* in this list when the lms have replied */
	struct token *wanted; /* owned: processes that the lms have adopted */
	size_t n;
};

/* Matches the program by its whole path or its last part. */
static bool is_program(const struct object *o, const char *exec)
{
	size_t n = strlen(o->name), m = strlen(exec);

	if (!exec[0] || str_eq(o->name, exec))
		return true;
	if (m > n)
		return m > n + 1 && exec[m - n - 1] == '/' && str_eq(exec + m - n, o->name);
	return n > m && o->name[n - m - 1] == '/' && str_eq(o->name + n - m, exec);
}

static const struct object *find_pid(const struct object *node, int64_t pid, const char *exec)
{
	list_each (i, &node->children) {
		const struct object *o = list_entry(i, struct object, sibling);

		if (o->pid == pid && o->state != MSG_STATE_ENDED && is_program(o, exec))
			return o;
	}
	return NULL;
}

static void adoption_free(struct adoption *t)
{
	list_del(&t->in_adoptions);
	free(t->wanted);
	free(t);
}

/* --- after the lms have adopted it */

static const struct object *wanted_at(const struct adoption *t, size_t i)
{
	return directory_find(t->c.services->conf.directory, t->wanted[i].s);
}

static bool is_whole(const struct adoption *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!wanted_at(t, i))
			return false;
	return true;
}

static void finish(struct adoption *t)
{
	struct run *run = t->c.run;

	for (size_t i = 0; i < t->n; i++)
		service_answer_attached(&t->c, wanted_at(t, i));
	adoption_free(t);
	run_here_done(run);
}

static struct adoption *find_whole(const struct services *top)
{
	list_each (i, &top->adoptions)
		if (is_whole(list_entry(i, struct adoption, in_adoptions)))
			return list_entry(i, struct adoption, in_adoptions);
	return NULL;
}

/*
 * Continues requests whose processes have been reported. A continued request may begin and end
 * others.
 */
static void on_came(void *arg)
{
	struct adoption *t;

	while ((t = find_whole(arg)))
		finish(t);
	expected_check(arg);
}

/* Called after the whole message, in which threads follow their process. */
void services_proc_came(struct services *t)
{
	if (!list_is_empty(&t->adoptions) || !list_is_empty(&t->waiting))
		loop_job_post(t->conf.loop, &t->came, on_came, t);
}

/* --- their answer */

/* An lm may report processes of its own node only. */
static bool read_token(const struct reply_entry *e, struct token *out)
{
	struct omis_values *v = NULL;
	uint32_t node = 0, of = 0;
	bool good = false;

	if (omis_parse_values(e->value, e->nvalue, &v, NULL))
		return false;
	if (v->n == 1 && v->v[0].kind == OMIS_TOKEN && v->v[0].s.n < TOKEN_BYTES) {
		str_copy(out->s, sizeof(out->s), v->v[0].s.p);
		good = token_class(out->s, strlen(out->s)) == 'p' &&
		       token_class(e->objects, strlen(e->objects)) == 'n' &&
		       token_node(out->s, strlen(out->s), &node) &&
		       token_node(e->objects, strlen(e->objects), &of) && node == of;
	}
	omis_values_free(v);
	return good;
}

static void add_entry(struct adoption *t, const struct reply_entry *e)
{
	struct reply *into = t->c.into;

	if (e->status == STATUS_UNKNOWN_OBJECT)
		reply_add(into, t->c.action, e->objects, e->status, NO_SUCH_PROCESS);
	else if (status_is_error(e->status))
		reply_add_n(into, t->c.action, e->objects, e->status,
			    bytes_at(e->value, e->nvalue));
	else if (read_token(e, &t->wanted[t->n]))
		t->n++;
	else
		reply_add(into, t->c.action, e->objects, STATUS_INTERNAL_ERROR,
			  "the host's answer makes no sense");
}

static int add_answer(struct adoption *t, const struct reply *r)
{
	t->wanted = r ? calloc(r->nentry + 1, sizeof(*t->wanted)) : NULL;
	if (!t->wanted)
		return reply_add(t->c.into, t->c.action, NULL, STATUS_NO_MEMORY, "no memory");
	for (size_t i = 0; i < r->nentry; i++)
		add_entry(t, &r->entry[i]);
	service_pass_missing(&t->c, r);
	return 0;
}

static void on_done(void *arg, struct reply *r)
{
	struct adoption *t = arg;

	if (!t->c.run) {
		adoption_free(t);
	} else {
		add_answer(t, r);
		if (is_whole(t))
			finish(t);
		else
			list_push_back(&t->c.services->adoptions, &t->in_adoptions);
	}
	reply_free(r);
}

static void abandon(void *arg)
{
	struct adoption *t = arg;

	t->c.run = NULL;
	if (list_is_empty(&t->runs))
		adoption_free(t);
	else
		executor_cancel(t->c.services->conf.executor, &t->runs);
}

/* --- asking */

/* ":service([n_1,...],...)" with the other parameters as they are, checked. */
static int make_request(const struct service_call *c, const char *service,
			const struct omis_value *nodes, struct omis_request **out)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	buf_printf(&b, ":%s(", service);
	omis_write_value(&w, nodes);
	for (size_t i = 1; i < c->call->nparam; i++)
		omis_write_value(&w, &c->call->param[i]);
	buf_putc(&b, ')');
	rc = b.failed ? -ERR_LIMIT : omis_read_inner(buf_str(&b), b.n, out, NULL);
	buf_done(&b);
	return rc;
}

static int ask_nodes(struct service_call *c, const char *service, const struct omis_value *nodes)
{
	struct adoption *t = calloc(1, sizeof(*t));
	const struct service_inquiry how = { t ? &t->runs : NULL, on_done, abandon, t };
	struct omis_request *request = NULL;
	int rc;

	if (!t)
		return -ERR_NOMEM;
	t->c = *c;
	list_init(&t->runs);
	list_init(&t->in_adoptions);
	rc = make_request(c, service, nodes, &request);
	if (!rc)
		rc = service_ask_branches(c, &request, &how);
	omis_request_free(request);
	if (rc)
		adoption_free(t);
	return rc ? rc : 1;
}

/* Attaches watched processes here, and sends a request to the lms of other nodes. */
static int proc_attach3(struct service_call *c)
{
	struct service_list nodes = service_list(c, 0);
	struct omis_value rest = { .kind = OMIS_LIST };
	int rc = 0;

	rest.list.v = calloc(nodes.n + 1, sizeof(*rest.list.v));
	if (!rest.list.v)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < nodes.n; i++) {
		const struct object *node =
			directory_find(c->services->conf.directory, nodes.v[i].s.p);
		const struct object *o =
			node ? find_pid(node, service_int(c, 1), service_text(c, 2)) : NULL;

		if (o)
			rc = service_answer_attached(c, o);
		else
			rest.list.v[rest.list.n++] = nodes.v[i];
	}
	if (!rc && rest.list.n)
		rc = ask_nodes(c, "omig_proc_take", &rest);
	free(rest.list.v);
	return rc;
}

/* Starts the program on each node, and attaches the started processes. */
static int proc_create(struct service_call *c)
{
	struct omis_value nodes = { .kind = OMIS_LIST };
	struct service_list list = service_list(c, 0);

	nodes.list.v = (struct omis_value *)list.v;
	nodes.list.n = list.n;
	return list.n ? ask_nodes(c, "omig_proc_create", &nodes) : 0;
}

const struct service mainsm_take_services[] = {
	{ "proc_attach3", proc_attach3 },
	{ "proc_create", proc_create },
	{ 0 },
};
