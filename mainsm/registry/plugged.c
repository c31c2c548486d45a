/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of plug-ins, as texts of the registry: one text for each plug-in, visible to all
 * principals and not stored. They are made again when the plug-ins of any host have changed.
 */
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/services/added.h"
#include "mainsm/registry/registry_internal.h"

#include <stdlib.h>

#define TEXT_MAX_BYTES (2 * PLUGIN_TEXT_MAX_BYTES)

static void write_metric(struct buf *b, const struct added_service *a)
{
	bool is_counter = a->spec.metric == ADDED_COUNTER;
	const char *object = a->spec.of_processes ? "process" : "node";

	buf_printf(b, "// %s\n", a->spec.help);
	buf_printf(b, "%s(%s object%s) : Unit(\"%s\") {\n", a->spec.name,
		   a->spec.of_processes ? "Process" : "Node", is_counter ? ", TimeInterval t" : "",
		   a->spec.result);
	buf_printf(b, "\tRETURN Plugin_%s_%s(object, \"%s\", %s);\n}\n", object,
		   is_counter ? "counter" : "value", a->spec.name, is_counter ? "t" : "NOW");
}

static bool is_first_of_plugin(const struct added_services *all, size_t i)
{
	const struct added_service *a = added_services_at(all, i), *b;

	for (size_t k = 0; k < i; k++) {
		b = added_services_at(all, k);
		if (added_service_is_metric(b) && str_eq(b->spec.plugin, a->spec.plugin))
			return false;
	}
	return added_service_is_metric(a);
}

static void add_text(struct registry *r, const char *plugin, const struct buf *text)
{
	char name[REGISTRY_NAME_MAX + 1];
	const struct registry_text t = { name, buf_str(text) };
	struct registered *x = NULL;

	snprintf(name, sizeof(name), "plugin.%s", plugin);
	if (!text->failed)
		x = registered_new(PLUGGED_PRINCIPAL, &t);
	if (!x || registered_note_metrics(x)) {
		log_warn("mainsm", "no memory for the metrics of plug-in %s", plugin);
		registered_free(x);
		return;
	}
	x->version = 1;
	x->added = r->conf.wall_now(r->conf.arg);
	list_push_back(&r->all, &x->link);
}

static void add_plugin(struct registry *r, const struct added_services *all, const char *plugin)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	const struct added_service *a;

	for (size_t i = 0; (a = added_services_at(all, i)); i++)
		if (added_service_is_metric(a) && str_eq(a->spec.plugin, plugin))
			write_metric(&b, a);
	add_text(r, plugin, &b);
	buf_done(&b);
}

void registry_refresh(struct registry *r)
{
	const struct added_services *all;
	const struct added_service *a;
	unsigned version;

	if (!r->conf.added)
		return;
	all = r->conf.added(r->conf.arg, &version);
	if (version == r->plugged)
		return;
	r->plugged = version;
	list_each_safe (i, &r->all) {
		struct registered *x = list_entry(i, struct registered, link);

		if (str_eq(x->principal, PLUGGED_PRINCIPAL))
			registered_free(x);
	}
	for (size_t i = 0; all && (a = added_services_at(all, i)); i++)
		if (is_first_of_plugin(all, i))
			add_plugin(r, all, a->spec.plugin);
}
