/* SPDX-License-Identifier: Apache-2.0 */
/* Applications by name: several of them run under one mainsm. */
#include "common/base/str.h"
#include "common/omis/text/value.h"
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

static int job_attach(struct service_call *c)
{
	struct attaching a = { c, service_text(c, 0), 0, 0 };
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	uint64_t before = scope_version(c->session->scope);
	char name[128];

	attach_all(&a);
	if (scope_version(c->session->scope) != before)
		service_follow(c);
	if (a.rc < 0)
		return a.rc;
	if (!a.n)
		return reply_add_error(c->into, c->action, NULL, STATUS_UNKNOWN_OBJECT,
				       "no process is of a job '%s'",
				       str_escape(name, sizeof(name), a.job, strlen(a.job)));
	omis_write_int(&w, a.n);
	return service_value(c, NULL, &b);
}

const struct service mainsm_job_services[] = {
	{ "omig_job_attach", job_attach },
	{ 0 },
};
