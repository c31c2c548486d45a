/* SPDX-License-Identifier: Apache-2.0 */
/* What a host can do: the families of services, and what each works on. */
#include "lm/lm_internal.h"

#include <assert.h>

static void add(struct lm_services *s, const struct service *service, void *of)
{
	assert(s->n < LM_FAMILIES_MAX);
	s->family[s->n++] = (struct service_family){ service, of };
}

void lm_list_services(struct lm *m)
{
	struct lm_services *s = &m->services;
	struct host *host = m->conf.host;

	s->node = (struct node){ host, m->rates, m->host_name };
	s->control = (struct control){ host, m->stops };
	s->creator = (struct creator){ m->trace, m->stops };
	s->files = (struct file_reader){ { host, m->look }, m->files };
	s->objects = (struct tool_objects){ m->pa, m->tracebufs };
	add(s, audit_services, m->audit);
	add(s, calls_services, &m->ticks);
	add(s, control_services, &s->control);
	add(s, create_services, &s->creator);
	add(s, current_services, &m->ticks);
	add(s, events_services, NULL);
	add(s, file_services, &s->files);
	add(s, memory_services, &s->files.on);
	add(s, node_services, &s->node);
	add(s, pa_services, &s->objects);
	add(s, proc_services, host);
	add(s, queue_services, &m->ticks);
	add(s, status_services, m);
	add(s, trace_services, m->trace);
	add(s, tracebuf_services, &s->objects);
}
