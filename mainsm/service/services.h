/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The services that mainsm executes by itself: attaching, conditional
 * requests, user events, counters' names, questions about the monitor, and
 * its administration. One table, name -> function.
 */
#ifndef MAINSM_SERVICE_SERVICES_H
#define MAINSM_SERVICE_SERVICES_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/omis/reply.h"
#include "common/route/plan.h"

struct audit;
struct certs;
struct children;
struct csrs;
struct directory;
struct executor;
struct kepts;
struct loop;
struct measures;
struct numbers;
struct run;
struct sites;
struct token_text;
struct tokens;
struct top;

/* All borrowed. */
struct top_conf {
	struct directory *directory;
	struct sites *sites;
	struct children *children;
	struct csrs *csrs;
	struct measures *measures;
	struct kepts *kepts;
	struct executor *executor;
	struct numbers *numbers;
	struct certs *certs;
	struct tokens *tokens;
	struct audit *audit; /* NULL = none */
	struct loop *loop;
	nsec_t (*wall_now)(void *arg);
	/* Our own health as the values of omig_status(). */
	void (*status)(void *arg, struct buf *out);
	/* A connection string with that token. -ERR_NOMEM. */
	int (*connection)(void *arg, const struct token_text *token, struct buf *out);
	/* The list of revoked certificates has grown. */
	void (*revoked)(void *arg);
	/* End everything, soon. */
	void (*shutdown)(void *arg);
	void *arg; /* of all of them */
};

struct top *top_new(const struct top_conf *conf);
void top_free(struct top *t);

/*
 * As executor_conf.here: 0 done, 1 run_here_done() follows, negative: an error of that code.
 * ERR_UNSUPPORTED: the catalogue promises a service that is not in the table.
 */
int top_execute(struct top *t, struct run *run, const struct plan_here *here, struct reply *into);

/* A process has come into the directory: somebody may wait for it. */
void top_proc_came(struct top *t);

/* True when the service is in the table: a test compares it with the catalogue. */
bool top_has(const char *service);

#endif
