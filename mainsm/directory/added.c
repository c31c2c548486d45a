/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/added.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/omis/services/added.h"

#include <string.h>

void added_done(struct added *a)
{
	added_services_free(a->all);
	a->all = NULL;
}

int added_put(struct added *a, struct object *node, const struct bytes *text, struct err *e)
{
	if (text->n == node->services.n &&
	    (!text->n || !memcmp(text->p, node->services.p, text->n)))
		return 0;
	if (text->n > PLUGIN_TEXT_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "%s has more than %d bytes of services", node->token,
			       PLUGIN_TEXT_MAX_BYTES);
	a->is_old = true;
	buf_done(&node->services);
	buf_init(&node->services, PLUGIN_TEXT_MAX_BYTES);
	buf_put(&node->services, text->p, text->n);
	return node->services.failed ? err_nomem(e) : 0;
}

static int read_node(struct added_services *all, const struct object *node)
{
	size_t bad = 0;
	int rc = added_services_add(all, (const char *)node->services.p, node->services.n, &bad);

	if (bad)
		log_warn("directory", "%zu services of plug-ins of %s are not valid", bad,
			 node->token);
	return rc;
}

const struct added_services *added_all(struct added *a, const struct map *nodes)
{
	struct map_iter i = { 0 };
	int rc = 0;

	if (!a->is_old)
		return a->all;
	added_done(a);
	a->all = added_services_new();
	a->version++;
	while (a->all && !rc && map_next(nodes, &i)) {
		const struct object *node = i.value;

		if (node->services.n)
			rc = read_node(a->all, node);
	}
	a->is_old = !a->all || rc == -ERR_NOMEM;
	return a->all;
}

void added_each_node(const struct map *nodes, const char *service,
		     void (*fn)(void *arg, const struct object *node), void *arg)
{
	struct map_iter i = { 0 };

	while (map_next(nodes, &i)) {
		const struct object *node = i.value;

		if (added_services_name((const char *)node->services.p, node->services.n, service))
			fn(arg, node);
	}
}
