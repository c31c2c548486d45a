/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by lm.c and lm_status.c. */
#ifndef LM_LM_INTERNAL_H
#define LM_LM_INTERNAL_H

#include "common/member/parent.h"
#include "lm/instrument/calls.h"
#include "lm/csr/csr.h"
#include "lm/announce.h"
#include "lm/service/families.h"
#include "lm/service/inbox.h"
#include "lm/attach/registration.h"
#include "lm/lm.h"
#include "lm/instrument/pa.h"
#include "lm/instrument/probe.h"
#include "lm/host/rates.h"
#include "lm/instrument/functions.h"
#include "lm/measure/measurements.h"
#include "lm/record/recorder.h"
#include "lm/hold/holds.h"
#include "lm/task/task.h"
#include "lm/plugin/plugins.h"
#include "lm/proc/tickbase.h"
#include "lm/helper/helper.h"
#include "lm/instrument/tracebuf.h"

#define LM_FAMILIES_MAX 24 /* families of services: some more than exist */

struct lm_services {
	struct node node;
	struct control control;
	struct creator creator;
	struct enterer enterer;
	struct file_reader files;
	struct look_on source_files;
	struct tool_objects objects;
	struct job_sampler jobs;
	struct service_family family[LM_FAMILIES_MAX];
	size_t n;
	struct event_source source[CSR_SOURCES_MAX];
	size_t nsource;
};

/* Created in this order, freed in reverse. */
struct lm {
	struct lm_conf conf;
	char host_name[NAME_MAX_BYTES + 1];
	char *files; /* owned */
	nsec_t opened;
	struct tickbase ticks;
	struct procs *procs;
	struct rates *rates;
	struct holds *holds;
	struct calls *calls;
	struct pa *pa;
	struct probes *probes;
	struct helper *trace;
	struct functions *functions;
	struct tracebufs *tracebufs;
	struct recorder recorder; /* subscriptions whose events are stored on disk */
	struct helper *look; /* NULL: none */
	struct helper *source; /* a second lm-trace: if it hangs, it holds no process */
	struct plugins *plugins;
	struct audit *audit; /* NULL: none */
	struct lm_services services;
	struct done_log *done;
	struct tasks *tasks;
	struct csrs *csrs;
	struct measurements *measurements;
	struct inbox *inbox;
	struct announce *announce;
	struct registration *registration;
	struct parent *parent; /* NULL: not connected yet */
	struct procs_listener listener;
	struct loop_timer *linger, *drain;
	char *end_reason; /* owned; NULL: not ending */
	bool has_lingered; /* end for lack of processes */
};

/* lm_audit.c */
int lm_audit_open(struct lm *m, struct err *e);

/* With of: struct audit, and struct lm. */
extern const struct service audit_services[], status_services[];

/* lm_services.c: lists all services of a host, with their objects. */
void lm_list_services(struct lm *m);

#endif
