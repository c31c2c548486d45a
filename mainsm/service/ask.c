/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that mainsm answers from its own state. */
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/services/added.h"
#include "common/omis/text/value.h"
#include "mainsm/directory/sites.h"
#include "mainsm/service/service.h"

#define TREE_PART_BYTES (256 * 1024)

static int print(struct service_call *c)
{
	struct service_list list = service_list(c, 0);
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_int(&w, (int64_t)list.n);
	for (size_t i = 0; i < list.n; i++)
		omis_write_value(&w, &list.v[i]);
	return service_value(c, NULL, &b);
}

/* "0.1.0" -> 0, 1 */
static void write_version(struct omis_writer *w)
{
	const char *text = OMIG_VERSION;
	int64_t part[2] = { 0, 0 };

	for (size_t i = 0; *text && i < 2; text++) {
		if (*text == '.')
			i++;
		else if (i < 2 && *text >= '0' && *text <= '9')
			part[i] = part[i] * 10 + (*text - '0');
		if (i == 2)
			break;
	}
	omis_write_int(w, part[0]);
	omis_write_int(w, part[1]);
}

static int version(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_int(&w, 2);
	omis_write_int(&w, 0);
	omis_write_string(&w, "Omig " OMIG_VERSION);
	write_version(&w);
	return service_value(c, NULL, &b);
}

static int extensions(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_extensions(&w);
	return service_value(c, NULL, &b);
}

static int services(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	bool is_known = !omis_write_services(&w, service_text(c, 0));

	if (str_eq(service_text(c, 0), "plugin")) { /* in no catalogue */
		buf_clear(&b);
		w = OMIS_WRITER(&b);
		added_services_write(directory_added(c->services->conf.directory), &w);
	}
	if (is_known)
		return service_value(c, NULL, &b);
	buf_done(&b);
	return reply_add(c->into, c->action, NULL, STATUS_PARAMETER_ERROR,
			 "no extension has that prefix");
}

static void write_node(void *arg, const struct object *node)
{
	omis_write_token(arg, node->token);
}

static void write_added(struct omis_writer *w, struct directory *d, const struct added_service *a)
{
	struct buf signature = BUF_INIT(SERVICE_VALUE_MAX_BYTES);

	omis_print_signature(&signature, &a->s);
	omis_write_list(w);
	omis_write_string(w, a->s.name);
	omis_write_string(w, a->spec.plugin);
	omis_write_string(w, omis_class_name(a->s.class));
	omis_write_string(w, omis_right_name(a->s.right));
	omis_write_string(w, buf_str(&signature));
	omis_write_string(w, a->spec.result);
	omis_write_string(w, a->spec.help);
	omis_write_list(w);
	directory_each_offering(d, a->s.name, write_node, w);
	omis_write_list_end(w);
	omis_write_list_end(w);
	buf_done(&signature);
}

static int plugin_services(struct service_call *c)
{
	struct directory *d = c->services->conf.directory;
	const struct added_services *all = directory_added(d);
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	for (size_t i = 0; added_services_at(all, i); i++)
		write_added(&w, d, added_services_at(all, i));
	return service_value(c, NULL, &b);
}

static const char *site_state(const struct object *site)
{
	if (list_is_empty(&site->children))
		return "empty";
	list_each (i, &site->children)
		if (list_entry(i, struct object, sibling)->sub != MSG_NODE_LOST)
			return "up";
	return "lost";
}

static const char *state_text(const struct object *o)
{
	static const char *const states[] = { "run",	 "blocked", "ready",	  "zombie",
					      "stopped", "ended",   "unreachable" };
	static const char *const subs[] = { "up", "silent", "lost", "hung" };

	if (o->kind == OBJECT_SITE)
		return site_state(o);
	return o->kind == OBJECT_NODE ? subs[o->sub] : states[object_state(o)];
}

static void write_object(struct omis_writer *w, const struct object *o, nsec_t now)
{
	omis_write_list(w);
	omis_write_token(w, o->token);
	if (o->parent)
		omis_write_token(w, o->parent->token);
	else
		omis_write_string(w, "");
	omis_write_string(w, o->name);
	omis_write_string(w, state_text(o));
	omis_write_int(w, o->pid);
	omis_write_int(w, o->rank);
	omis_write_int(w, o->world_size);
	omis_write_string(w, o->job);
	omis_write_string(w, o->flavour);
	omis_write_int(w, o->exit_status);
	omis_write_string(w, o->host);
	omis_write_int(w, o->kind == OBJECT_NODE ? now - o->since : 0);
	omis_write_list_end(w);
}

/* Splits a large tree into several entries, because a message has no room for the whole tree. */
static int flush_tree(struct service_call *c, struct omis_writer *w, size_t more_than)
{
	int rc = 0;

	if (w->b->failed)
		return -ERR_NOMEM;
	if (w->b->n > more_than) {
		rc = reply_add_n(c->into, c->action, NULL, STATUS_OK, buf_bytes(w->b));
		buf_clear(w->b);
		*w = OMIS_WRITER(w->b);
	}
	return rc;
}

/* Recursion is at most four levels deep. */
static int write_tree(struct service_call *c, struct omis_writer *w, const struct list *in)
{
	int rc = 0;

	list_each (i, in) {
		const struct object *o = list_entry(i, struct object, sibling);

		write_object(w, o, loop_now(c->services->conf.loop));
		rc = flush_tree(c, w, TREE_PART_BYTES);
		if (!rc)
			rc = write_tree(c, w, &o->children);
		if (rc)
			break;
	}
	return rc;
}

static int tree(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc = write_tree(c, &w, directory_sites(c->services->conf.directory));

	if (!rc)
		rc = flush_tree(c, &w, 0);
	buf_done(&b);
	return rc;
}

static int64_t count_processes(const struct object *site)
{
	int64_t n = 0;

	list_each (i, &site->children)
		list_each (k, &list_entry(i, struct object, sibling)->children)
			n++;
	return n;
}

static void write_hosts(struct omis_writer *w, const struct object *site)
{
	int64_t up = 0, known = 0;

	list_each (i, &site->children) {
		known++;
		up += list_entry(i, struct object, sibling)->sub == MSG_NODE_UP;
	}
	omis_write_int(w, up);
	omis_write_int(w, known);
}

static int site_info(struct service_call *c, const struct object *o, int64_t flags)
{
	const struct site *site = sites_find(c->services->conf.sites, o->name);
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	if (flags & 1)
		omis_write_string(&w, o->name);
	if (flags & 2)
		write_hosts(&w, o);
	if (flags & 4)
		omis_write_string(&w, site && site->address ? site->address : "");
	if (flags & 8)
		omis_write_int(&w, count_processes(o));
	return service_value(c, o->token, &b);
}

static int site_get_info(struct service_call *c)
{
	struct service_list list = service_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++) {
		const struct object *o = directory_find(c->services->conf.directory, list.v[i].s.p);

		rc = o ? site_info(c, o, service_int(c, 1)) : service_unknown(c, list.v[i].s.p);
	}
	return rc;
}

static int status(struct service_call *c)
{
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);

	c->services->conf.status(c->services->conf.arg, &b);
	return service_value(c, NULL, &b);
}

const struct service mainsm_ask_services[] = {
	{ "print", print },
	{ "version", version },
	{ "extensions", extensions },
	{ "services", services },
	{ "omig_tree", tree },
	{ "site_get_info", site_get_info },
	{ "omig_status", status },
	{ "omig_plugin_services", plugin_services },
	{ 0 },
};
