/* SPDX-License-Identifier: Apache-2.0 */
/* A sample consists of three requests, independent of the number of scrapers. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/export/export.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"

#include <stdlib.h>
#include <string.h>

void export_init(struct export *x)
{
	memset(x, 0, sizeof(*x));
	x->common = CMD_COMMON_INIT;
	x->measure = "volume";
	x->series_max = EXPORT_SERIES_DEFAULT;
	x->started_wall = clock_wall();
	export_totals_init(&x->totals);
}

static void drop_daemons(struct export *x)
{
	for (size_t i = 0; i < x->ndaemon; i++)
		omis_value_free(x->daemon[i].status);
	x->ndaemon = 0;
}

void export_done(struct export *x)
{
	drop_daemons(x);
	free(x->daemon);
	free(x->node);
	export_totals_done(&x->totals);
	if (x->is_open)
		session_close();
}

/* --- the tree: nodes with their sites and states, processes with their jobs */

/* Objects of the tree by token; the list owns the texts. */
struct names {
	struct smap of; /* token -> object of the list */
	Omis_value **part; /* the tree arrives in parts */
	size_t n, cap;
};

static void names_done(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		omis_value_free(l->part[i]);
	free(l->part);
	smap_done(&l->of);
}

static int names_add(struct names *l, Omis_value *list)
{
	const Omis_value *o;

	if (array_grow(&l->part, &l->cap, l->n + 1, sizeof(Omis_value *), OMIS_OBJECTS_MAX)) {
		omis_value_free(list);
		return -ERR_NOMEM;
	}
	l->part[l->n++] = list;
	for (size_t i = 0; (o = value_at(list, i)); i++)
		if (value_text(o, TREE_TOKEN)[0] &&
		    smap_put(&l->of, value_text(o, TREE_TOKEN), (void *)(uintptr_t)o, NULL))
			return -ERR_NOMEM;
	return 0;
}

static const char *field(const struct names *l, const char *token, size_t which)
{
	const Omis_value *o = smap_find(&l->of, token);

	return o ? value_text(o, which) : "";
}

static void add_node(struct export *x, const struct names *l, const Omis_value *o)
{
	struct export_node *n;

	if (array_grow(&x->node, &x->node_cap, x->nnode + 1, sizeof(*n), OMIS_OBJECTS_MAX))
		return;
	n = &x->node[x->nnode++];
	str_copy(n->token, sizeof(n->token), value_text(o, TREE_TOKEN));
	str_copy(n->name, sizeof(n->name), value_text(o, TREE_NAME));
	str_copy(n->state, sizeof(n->state), value_text(o, TREE_STATE));
	str_copy(n->site, sizeof(n->site), field(l, value_text(o, TREE_PARENT), TREE_NAME));
	export_node_read(n, NULL);
}

static int node_order(const void *a, const void *b)
{
	return strcmp(((const struct export_node *)a)->token,
		      ((const struct export_node *)b)->token);
}

static struct export_node *node_find(const struct export *x, const char *token)
{
	struct export_node key;

	str_copy(key.token, sizeof(key.token), token);
	return x->nnode ? bsearch(&key, x->node, x->nnode, sizeof(key), node_order) : NULL;
}

static int read_tree(struct export *x, struct names *l, const Omis_object_result *o)
{
	const Omis_value *v;
	int rc = 0;

	smap_init(&l->of);
	for (; !rc && o && o->obj_list; o++)
		if (o->result && (rc = names_add(l, omis_value_parse(o->result, o->result_len))))
			break;
	x->nnode = 0;
	for (size_t k = 0; k < l->n; k++)
		for (size_t i = 0; (v = value_at(l->part[k], i)); i++)
			if (str_has_prefix(value_text(v, TREE_TOKEN), "n_"))
				add_node(x, l, v);
	if (x->nnode > 1)
		qsort(x->node, x->nnode, sizeof(*x->node), node_order);
	return rc;
}

/* --- nodes and daemons */

static void read_node(void *arg, const char *token, const Omis_value *v)
{
	struct export_node *n = node_find(arg, token);

	if (n)
		export_node_read(n, v);
}

static void add_daemon(struct export *x, const struct names *l, const char *token,
		       Omis_value *status)
{
	bool is_node = str_has_prefix(token, "n_");
	struct export_daemon *d;

	if (!status ||
	    array_grow(&x->daemon, &x->daemon_cap, x->ndaemon + 1, sizeof(*d), OMIS_OBJECTS_MAX)) {
		omis_value_free(status);
		return;
	}
	d = &x->daemon[x->ndaemon++];
	str_copy(d->name, sizeof(d->name), value_text(status, 0));
	str_copy(d->version, sizeof(d->version), value_text(status, 1));
	str_copy(d->node, sizeof(d->node), is_node ? field(l, token, TREE_NAME) : "");
	str_copy(d->site, sizeof(d->site),
		 field(l, is_node ? field(l, token, TREE_PARENT) : token, TREE_NAME));
	d->uptime_s = value_float(status, 2) / 1e9;
	d->status = status;
}

static void read_daemons(struct export *x, const struct names *l, const Omis_object_result *o)
{
	drop_daemons(x);
	for (; o && o->obj_list; o++)
		if (o->status == OMIS_OK && o->result)
			add_daemon(x, l, o->obj_list, omis_value_parse(o->result, o->result_len));
}

static void note_coverage(struct export *x, Omis_reply r)
{
	Omis_coverage c;

	omis_reply_coverage(r, &c);
	x->asked += c.asked;
	x->answered += c.answered;
}

/* --- processes */

static void note_processes(struct export *x, const struct top_sample *s, const struct names *l)
{
	nsec_t now = clock_mono();

	export_totals_begin(&x->totals);
	for (size_t i = 0; i < s->nrank; i++) {
		const struct top_rank *r = &s->rank[i];
		const char *node = r->node[0] ? r->node : field(l, r->token, TREE_PARENT);
		const struct export_place at = { field(l, r->token, TREE_JOB),
						 field(l, field(l, node, TREE_PARENT), TREE_NAME),
						 field(l, node, TREE_NAME) };

		export_totals_add(&x->totals, r, &at, now);
	}
	export_totals_end(&x->totals, now);
}

static int take_processes(struct export *x, const struct names *l)
{
	struct top_sample s;
	int rc = top_sample_read(&s, NULL);

	if (rc == CMD_OK) {
		note_coverage(x, s.reply);
		note_processes(x, &s, l);
		/*
		 * The session may be a new one since the last sample: counting is enabled for
		 * all.
		 */
		if (!str_eq(x->measure, "off"))
			rc = top_sample_enable(&s, NULL, x->measure);
	}
	top_sample_done(&s);
	return rc;
}

static int take_all(struct export *x)
{
	struct names l = { 0 };
	Omis_reply r;
	int rc = session_attach_all();

	if (rc == CMD_OK)
		rc = session_ask(&r, ":omig_tree() omig_status() node_get_info([],%u)",
				 export_node_flags());
	if (rc != CMD_OK)
		return rc;
	x->asked = x->answered = 0;
	note_coverage(x, r);
	/* Actions without an answer may be missing at the end. */
	if (r[0] && r[1] && !read_tree(x, &l, r[1])) {
		read_daemons(x, &l, r[2]);
		reply_each(r[2] ? r[3] : NULL, read_node, x);
		rc = take_processes(x, &l);
	} else {
		rc = cmd_fail(CMD_FAILURE, "mainsm's answer cannot be read");
	}
	names_done(&l);
	omis_reply_free(r);
	return rc;
}

int export_take(struct export *x)
{
	nsec_t start = clock_mono();
	int rc = CMD_OK;

	if (!x->is_open) {
		rc = session_open(&x->common);
		x->is_open = rc == CMD_OK;
	}
	if (x->is_open)
		rc = take_all(x);
	if (rc == CMD_FAILURE &&
	    x->is_open) { /* the next sample connects again: it may be another mainsm */
		session_close();
		x->is_open = false;
	}
	x->is_up = rc == CMD_OK;
	x->taken_wall = clock_wall();
	x->took = clock_mono() - start;
	x->samples++;
	x->failures += rc != CMD_OK;
	return rc;
}
