/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the services of the top: one file a family. */
#ifndef MAINSM_SERVICE_SERVICE_H
#define MAINSM_SERVICE_SERVICE_H

#include "common/base/list.h"
#include "common/loop/loop.h"
#include "common/omis/catalogue.h"
#include "mainsm/csr/csr.h"
#include "mainsm/directory/directory.h"
#include "mainsm/measure/measure.h"
#include "tree/executor.h"
#include "mainsm/tool/session.h"
#include "mainsm/service/services.h"

#define TOP_VALUE_MAX_BYTES (8 * 1024 * 1024)

struct top {
	struct top_conf conf;
	struct list takings; /* top_take.c: processes that wait for their place in the directory */
	struct loop_job came;
};

/* One service that is executed. */
struct top_call {
	struct top *top;
	struct run *run;
	struct session *session;
	const struct omis_call *call;
	uint32_t action;
	struct reply *into;
};

typedef int (*top_fn)(struct top_call *c);

struct top_service {
	const char *name;
	top_fn fn;
};

/* End with {0}. */
extern const struct top_service top_attach_services[], top_csr_services[], top_pa_services[],
	top_ask_services[], top_admin_services[], top_site_services[], top_job_services[],
	top_dfg_services[], top_kept_services[];

/* The list that is parameter number `at`, or an empty one. */
struct top_list {
	const struct omis_value *v;
	size_t n;
};
struct top_list top_list(const struct top_call *c, size_t at);
int64_t top_int(const struct top_call *c, size_t at);

/* "" when it is no text. */
const char *top_text(const struct top_call *c, size_t at);

/* An entry with the value in b; b is freed. */
int top_value(struct top_call *c, const char *objects, struct buf *b);

/* The same error for what does not exist and what is not to be seen. */
int top_unknown(struct top_call *c, const char *token);

/* What could not be asked for a service: missing in the tool's reply too. r may be NULL. */
void top_pass_missing(struct top_call *c, const struct reply *r);

/* A request of our own to the daemons below, on behalf of the tool's. */
struct top_asking {
	struct list *runs; /* it is in there while it lives */
	void (*on_done)(void *arg, struct reply *r); /* as run_spec.on_done */
	void (*abandon)(void *arg); /* as run_set_abandon() */
	void *arg;
};

/*
 * 0: on_done comes once, maybe before this returns, and run_here_done() is to follow it; c is then
 * to be copied. *request is taken; negative: it was not asked.
 */
int top_ask_below(struct top_call *c, struct omis_request **request, const struct top_asking *how);

/* What the tool is attached to has changed. */
void top_follow(struct top_call *c);

/* Waits until what top_follow() has armed is confirmed: 0, 1 as top_fn, negative. */
int top_await_armed(struct top_call *c);

/* Attaches o and answers with its token. */
int top_answer_attached(struct top_call *c, const struct object *o);

/* top_take.c */
int top_proc_create(struct top_call *c);
int top_proc_attach3(struct top_call *c);

#endif
