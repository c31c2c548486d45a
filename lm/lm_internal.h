/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by lm.c and lm_status.c. */
#ifndef LM_LM_INTERNAL_H
#define LM_LM_INTERNAL_H

#include "common/daemon/ascent.h"
#include "eventlog/keep/keeps.h"
#include "lm/calls.h"
#include "lm/csr.h"
#include "lm/directory.h"
#include "lm/inbox.h"
#include "lm/intake.h"
#include "lm/lm.h"
#include "lm/pa.h"
#include "lm/probe.h"
#include "lm/rates.h"
#include "lm/readings.h"
#include "lm/stops.h"
#include "lm/task.h"
#include "lm/tickbase.h"
#include "lm/trace.h"
#include "lm/tracebuf.h"

/* Made from the top down, freed from the bottom up. */
struct lm {
	struct lm_conf conf;
	char host_name[NAME_MAX_BYTES + 1];
	char *files; /* owned */
	nsec_t opened;
	struct tickbase ticks;
	struct procs *procs;
	struct rates *rates;
	struct stops *stops;
	struct calls *calls;
	struct pa *pa;
	struct probes *probes;
	struct trace *trace;
	struct tracebufs *tracebufs;
	struct keeps *keeps; /* subscriptions whose events wait on disk */
	struct trace *look; /* NULL: none */
	struct audit *audit; /* NULL: none */
	struct ops *ops;
	struct tasks *tasks;
	struct csrs *csrs;
	struct readings *readings;
	struct inbox *inbox;
	struct directory *directory;
	struct intake *intake;
	struct ascent *uplink; /* NULL: not connected yet */
	struct procs_listener listener;
	struct loop_timer *linger, *drain;
	char *end_reason; /* owned; NULL: not ending */
	bool has_lingered; /* it ends for want of processes */
};

/* lm_audit.c */
int lm_audit_open(struct lm *m, struct err *e);

/* For omig_status and omig_dfg_look. */
void lm_write_status(void *arg, struct omis_writer *w);
int lm_flow_look(void *arg, uint32_t measurement, struct omis_writer *w);

#endif
