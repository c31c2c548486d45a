/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the services of the top: one file a family. */
#ifndef MAINSM_SERVICE_SERVICE_H
#define MAINSM_SERVICE_SERVICE_H

#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/omis/services/catalogue.h"
#include "mainsm/csr/csr.h"
#include "mainsm/directory/directory.h"
#include "mainsm/measure/measure.h"
#include "mainsm/service/services.h"
#include "mainsm/tool/session.h"
#include "tree/executor.h"

#define SERVICE_VALUE_MAX_BYTES (8 * 1024 * 1024)

#define EXPECTED_MAX 64 /* more jobs at once: questions about the oldest do not wait */

struct services {
	struct services_conf conf;
	struct expected_job {
		char name[NAME_MAX_BYTES + 1];
		nsec_t until;
	} expected[EXPECTED_MAX]; /* expected.c: a ring */
	size_t nexpected;
	struct list waiting; /* expected.c: questions about them */
	struct list adoptions; /* adopt.c: processes that wait for their place in the directory */
	struct loop_job came;
};

/* One service that is executed. */
struct service_call {
	struct services *services;
	struct run *run;
	struct session *session;
	const struct omis_call *call;
	uint32_t action;
	struct reply *into;
};

/* The list that is parameter number `at`, or an empty one. */
struct service_list {
	const struct omis_value *v;
	size_t n;
};
struct service_list service_list(const struct service_call *c, size_t at);
int64_t service_int(const struct service_call *c, size_t at);

/* "" when it is no text. */
const char *service_text(const struct service_call *c, size_t at);

/* An entry with the value in b; b is freed. */
int service_value(struct service_call *c, const char *objects, struct buf *b);

/* The same error for what does not exist and what is not to be seen. */
int service_unknown(struct service_call *c, const char *token);

/* What could not be asked for a service: missing in the tool's reply too. r may be NULL. */
void service_pass_missing(struct service_call *c, const struct reply *r);

/* A request of our own to the daemons below, on behalf of the tool's. */
struct service_inquiry {
	struct list *runs; /* it is in there while it lives */
	void (*on_done)(void *arg, struct reply *r); /* as run_spec.on_done */
	void (*abandon)(void *arg); /* as run_set_abandon() */
	void *arg;
};

/*
 * 0: on_done comes once, maybe before this returns, and run_here_done() is to follow it; c is then
 * to be copied. *request is taken; negative: it was not asked.
 */
int service_ask_branches(struct service_call *c, struct omis_request **request,
			 const struct service_inquiry *how);

/* What the tool is attached to has changed. */
void service_follow(struct service_call *c);

/* Waits until what service_follow() has armed is confirmed: 0, 1 as service_fn, negative. */
int service_await_armed(struct service_call *c);

/* Attaches o and answers with its token. */
int service_answer_attached(struct service_call *c, const struct object *o);

#endif
