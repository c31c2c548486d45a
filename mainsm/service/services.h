/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The services that mainsm executes itself: attaching, conditional requests, user events, names of
 * counters, questions about the monitor, and its administration. Each family has a table, name ->
 * function; the list of families is beside main.
 */
#ifndef MAINSM_SERVICE_SERVICES_H
#define MAINSM_SERVICE_SERVICES_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/omis/reply/reply.h"
#include "common/route/plan.h"

struct audit;
struct certs;
struct branches;
struct tool_csrs;
struct directory;
struct executor;
struct history;
struct registry;
struct subscriptions;
struct loop;
struct measures;
struct numbers;
struct run;
struct service_call;
struct services;
struct sites;
struct token_text;
struct tokens;

typedef int (*service_fn)(struct service_call *c);

struct service {
	const char *name;
	service_fn fn;
};

/* The families. Each table ends with {0}. */
extern const struct service mainsm_attach_services[], mainsm_csr_services[], mainsm_pa_services[],
	mainsm_ask_services[], mainsm_admin_services[], mainsm_site_services[],
	mainsm_job_services[], mainsm_measure_services[], mainsm_take_services[],
	mainsm_subscription_services[], mainsm_metrics_services[], mainsm_history_services[];

/* All borrowed. */
struct services_conf {
	const struct service *const *families; /* ends with NULL */
	struct directory *directory;
	struct sites *sites;
	struct branches *branches;
	struct tool_csrs *csrs;
	struct measures *measures;
	struct subscriptions *subscriptions;
	struct registry *registry;
	struct executor *executor;
	struct history *history; /* NULL = none */
	struct numbers *numbers;
	struct certs *certs;
	struct tokens *tokens;
	struct audit *audit; /* NULL = none */
	struct loop *loop;
	nsec_t (*wall_now)(void *arg);
	/* Writes the values of omig_status() about mainsm. */
	void (*status)(void *arg, struct buf *out);
	/* Writes a connection string with that token. -ERR_NOMEM. */
	int (*connection)(void *arg, const struct token_text *token, struct buf *out);
	/* The list of revoked certificates has grown. */
	void (*revoked)(void *arg);
	/* Ends all daemons soon. */
	void (*shutdown)(void *arg);
	void *arg; /* of all of them */
};

struct services *services_new(const struct services_conf *conf);
void services_free(struct services *t);

/*
 * As executor_conf.here: 0 done, 1 run_here_done() follows, negative: an error of that code.
 * ERR_UNSUPPORTED: the catalogue has a service that no table has.
 */
int services_execute(struct services *t, struct run *run, const struct plan_here *here,
		     struct reply *into);

/* A process was added to the directory: requests may wait for it. */
void services_proc_came(struct services *t);

/* Returns the function of that service; NULL: no family has it. */
service_fn services_find(const struct service *const *families, const char *name);

#endif
