/* SPDX-License-Identifier: Apache-2.0 */
/* The capabilities of a host: families of services, sources of events, and the object of each. */
#include "lm/contract/contract.h"
#include "lm/lm_internal.h"

#include <assert.h>

static void add(struct lm_services *s, const struct service *service, void *of)
{
	assert(s->n < LM_FAMILIES_MAX);
	s->family[s->n++] = (struct service_family){ service, of };
}

static void add_source(struct lm_services *s, const struct event_source_ops *ops, void *of)
{
	assert(s->nsource < CSR_SOURCES_MAX);
	s->source[s->nsource++] = (struct event_source){ .ops = ops, .of = of };
}

/* In the order in which they are notified about processes. */
static void list_sources(struct lm *m)
{
	struct lm_services *s = &m->services;

	add_source(s, &call_source, NULL);
	add_source(s, &probe_source, NULL);
	add_source(s, &proc_source, NULL);
	add_source(s, &tracer_source, m->trace);
	add_source(s, &perf_source, NULL);
	add_source(s, &record_source, &m->recorder);
	add_source(s, &contract_source, NULL);
}

void lm_list_services(struct lm *m)
{
	struct lm_services *s = &m->services;
	struct host *host = m->conf.host;

	s->node = (struct node){ host, m->rates, m->host_name };
	s->control = (struct control){ host, m->holds };
	s->creator = (struct creator){ m->trace, m->holds };
	s->enterer = (struct enterer){ host, m->trace, m->conf.memfd, m->conf.socket };
	s->files = (struct file_reader){ { host, m->look }, m->files };
	s->jobs = (struct job_sampler){ host, &m->ticks };
	s->source_files = (struct look_on){ host, m->source };
	s->objects = (struct tool_objects){ m->pa, m->tracebufs };
	add(s, audit_services, m->audit);
	add(s, calls_services, &m->ticks);
	add(s, control_services, &s->control);
	add(s, create_services, &s->creator);
	add(s, current_services, &m->ticks);
	add(s, enter_services, &s->enterer);
	add(s, events_services, NULL);
	add(s, file_services, &s->files);
	add(s, function_services, m->functions);
	add(s, job_services, &s->jobs);
	add(s, memory_services, &s->files.on);
	add(s, node_services, &s->node);
	add(s, sample_services, &s->node);
	add(s, pa_services, &s->objects);
	add(s, plugin_services, m->plugins);
	add(s, proc_services, host);
	add(s, profile_services, m->calls);
	add(s, queue_services, &m->ticks);
	add(s, source_services, &s->source_files);
	add(s, status_services, m);
	add(s, trace_services, m->trace);
	add(s, tracebuf_services, &s->objects);
	list_sources(m);
}
