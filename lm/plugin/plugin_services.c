/* SPDX-License-Identifier: Apache-2.0 */
/* The services omig_plugin_*: the list of plug-ins, and the calls of their services. */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "lm/helper/helper.h"
#include "lm/plugin/plugins.h"

#include <stdlib.h>
#include <string.h>

/* An unknown plug-in is not an unknown object: the node is known. */
static int add_failure(struct service_call *c, const char *node, int rc, const struct err *e)
{
	return call_add_failure(c, node, rc == -ERR_NOTFOUND ? -ERR_INVALID : rc, e);
}

/* Finds this node's token; 1: the call does not name it, and its entries are there. */
static int find_node(struct service_call *c, struct token *out)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'n', &o);
	bool has = !rc && o.n;

	if (has)
		str_copy(out->s, sizeof(out->s), o.v[0].token);
	objects_done(&o);
	return rc ? rc : !has;
}

/* --- omig_plugin_add */

struct addition {
	struct plugin_wait wait;
	bool is_new;
};

static void addition_free(void *arg)
{
	struct addition *a = arg;

	plugin_unwait(&a->wait);
	free(a);
}

static void write_services(struct omis_writer *w, const struct plugin *p)
{
	omis_write_list(w);
	for (size_t i = 0; i < p->nservice; i++)
		omis_write_string(w, p->service[i]->s.name);
	omis_write_list_end(w);
}

static int answer_added(struct service_call *c, const char *node, struct plugin *p)
{
	struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct err e = { 0 };
	int rc = plugin_store(p, &e);

	if (rc)
		return add_failure(c, node, rc, &e);
	omis_write_string(&w, p->name);
	write_services(&w, p);
	return call_add_values(c, node, &b);
}

/* A plug-in that was just added and failed is none of the list. */
static int finish_addition(struct service_call *c, const char *node, struct addition *a)
{
	struct plugins *all = c->of;
	struct plugin *p = a->wait.plugin, *failed = NULL;

	if (p)
		return answer_added(c, node, p);
	list_each (i, plugins_all(all)) {
		struct plugin *one = list_entry(i, struct plugin, link);

		if (str_eq(one->path, call_text(c, 1)) && plugin_state(one) == PLUGIN_FAILED)
			failed = one;
	}
	if (failed && !failed->is_stored)
		plugin_drop(failed);
	if (!a->wait.e.text[0])
		err_set(&a->wait.e, ERR_CLOSED, "the plug-in was removed");
	return add_failure(c, node, -ERR_INVALID, &a->wait.e);
}

static int begin_addition(struct service_call *c, const char *node)
{
	struct plugin *p = NULL;
	struct addition *a;
	struct err e = { 0 };
	int rc = plugins_add(c->of, call_text(c, 1), &p, &e);

	if (rc)
		return add_failure(c, node, rc, &e);
	if (plugin_state(p) != PLUGIN_STARTING)
		return answer_added(c, node, p);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ERR_NOMEM;
	list_init(&a->wait.link);
	a->wait.fn = task_go_on;
	a->wait.arg = c->task;
	plugin_wait(p, &a->wait);
	task_keep(c->task, a, addition_free);
	return SERVICE_WAITS;
}

static int serve_add(struct service_call *c)
{
	struct token node;
	int got = find_node(c, &node);

	if (got)
		return got < 0 ? got : 0;
	return c->retry ? finish_addition(c, node.s, task_kept(c->task))
			: begin_addition(c, node.s);
}

/* --- omig_plugin_list, omig_plugin_remove */

static void write_plugin(struct omis_writer *w, const struct plugin *p)
{
	static const char *const states[] = { "starting", "ready", "waiting", "failed" };

	omis_write_list(w);
	omis_write_string(w, p->name);
	omis_write_string(w, p->path);
	omis_write_string(w, p->summary);
	omis_write_string(w, states[plugin_state(p)]);
	OMIS_WRITE_INTS(w, helper_pid(p->helper), (int64_t)p->calls, (int64_t)p->errors,
			(int64_t)p->ends);
	omis_write_string(w, p->last.code ? p->last.text : "");
	write_services(w, p);
	omis_write_list_end(w);
}

static int serve_list(struct service_call *c)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	struct token node;
	int got = find_node(c, &node);

	if (got)
		return got < 0 ? got : 0;
	list_each (i, plugins_all(c->of))
		write_plugin(&w, list_entry(i, struct plugin, link));
	reply_add_time(c->reply, call_now(c), call_now(c));
	return call_add_values(c, node.s, &b);
}

static int serve_remove(struct service_call *c)
{
	struct err e = { 0 };
	struct token node;
	int got = find_node(c, &node);

	if (got)
		return got < 0 ? got : 0;
	got = plugins_remove(c->of, call_text(c, 1), &e);
	return got ? add_failure(c, node.s, got, &e)
		   : reply_add(c->reply, c->action, node.s, STATUS_OK, NULL);
}

/* --- calls */

/* Finds the plug-in of a carrier's call; NULL: it is gone. */
static struct plugin *plugin_of(const struct service_call *c, const struct added_service **out)
{
	return plugins_find(c->of, call_text(c, ADDED_NAME), out);
}

static int fill(struct service_call *c, struct tracer_msg *m, void **take, struct err *e)
{
	const struct omis_value *values = &c->call->param[ADDED_VALUES];
	struct buf b = BUF_INIT(TRACER_BYTES_MAX);
	struct omis_writer w = OMIS_WRITER(&b);

	for (size_t i = 0; i < values->list.n; i++)
		omis_write_value(&w, &values->list.v[i]);
	if (b.failed) {
		buf_done(&b);
		return err_set(e, ERR_LIMIT, "the parameters have more than %d bytes",
			       TRACER_BYTES_MAX);
	}
	m->type = TRACER_PLUGIN_CALL;
	m->text[m->ntext++] = call_text(c, ADDED_NAME);
	*take = buf_take(&b, &m->nbytes);
	m->bytes = *take;
	return 0;
}

/* The process of a plug-in is not trusted: its result is read and written again. */
static int add(struct service_call *c, const struct looked *o)
{
	const struct added_service *a;
	struct plugin *p = plugin_of(c, &a);
	struct omis_values *v = NULL;
	struct err e = { 0 };
	int rc = omis_parse_values((const char *)o->bytes.p, o->bytes.n, &v, &e);
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	if (rc) {
		err_add(&e, "the result of the plug-in");
		if (p)
			plugin_failed(p, &e);
		return add_failure(c, o->token.s, -ERR_INVALID, &e);
	}
	if (p)
		plugin_succeeded(p);
	for (size_t i = 0; i < v->n; i++)
		omis_write_value(&w, &v->v[i]);
	omis_values_free(v);
	return call_add_values(c, o->token.s, &b);
}

static void failed(struct service_call *c, const struct looked *o)
{
	const struct added_service *a;
	struct plugin *p = plugin_of(c, &a);

	if (p)
		plugin_failed(p, &o->e);
}

/* The class of the carrier is that of the plug-in's definition, or mainsm has another one. */
static int check_call(const struct service_call *c, const struct added_service *a, struct err *e)
{
	if (added_service_carrier(a) != c->call->service)
		return err_set(e, ERR_INVALID,
			       "%s of this node has other objects or needs another right: its "
			       "plug-in differs from that of other nodes",
			       a->s.name);
	return added_service_takes(a, &c->call->param[ADDED_VALUES], e) ? 0 : -ERR_INVALID;
}

static int refuse(struct service_call *c, char class, int rc, const struct err *e)
{
	struct objects o = { 0 };
	int got = call_resolve(c, class, &o);

	for (size_t i = 0; !got && i < o.n; i++)
		got = add_failure(c, o.v[i].token, rc, e);
	objects_done(&o);
	return got;
}

static int serve_call(struct service_call *c, const struct look_spec *spec)
{
	const struct added_service *a = NULL;
	struct plugin *p = plugin_of(c, &a);
	struct err e = { 0 };
	int rc = 0;

	if (c->retry)
		return look_serve(c, NULL, spec);
	if (!p)
		rc = err_set(&e, ERR_UNSUPPORTED, "no plug-in of this node has %.60s",
			     call_text(c, ADDED_NAME));
	if (!rc)
		rc = check_call(c, a, &e);
	if (!rc && !plugin_may_call(p, &e))
		rc = -ERR_AGAIN;
	return rc ? refuse(c, spec->class, rc, &e) : look_serve(c, &p->on, spec);
}

static int serve_node(struct service_call *c)
{
	static const struct look_spec spec = { .class = 'n',
					       .max_bytes = PLUGIN_REPLY_MAX_BYTES,
					       .fill = fill,
					       .add = add,
					       .failed = failed };

	return serve_call(c, &spec);
}

static int serve_proc(struct service_call *c)
{
	static const struct look_spec spec = { .class = 'p',
					       .max_bytes = PLUGIN_REPLY_MAX_BYTES,
					       .fill = fill,
					       .add = add,
					       .failed = failed };

	return serve_call(c, &spec);
}

const struct service plugin_services[] = {
	{ "omig_plugin_add", serve_add },	 { "omig_plugin_info", serve_node },
	{ "omig_plugin_list", serve_list },	 { "omig_plugin_manip", serve_node },
	{ "omig_plugin_proc_info", serve_proc }, { "omig_plugin_proc_manip", serve_proc },
	{ "omig_plugin_remove", serve_remove },	 { NULL, NULL },
};
