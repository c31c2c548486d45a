/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the services of mainsm: one file per family. */
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

#define EXPECTED_MAX 64 /* expected jobs at once: questions about older ones do not wait */

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

/* One call of a service. */
struct service_call {
	struct services *services;
	struct run *run;
	struct session *session;
	const struct omis_call *call;
	uint32_t action;
	struct reply *into;
};

/* Parameter number `at` as a list, or an empty one. */
struct service_list {
	const struct omis_value *v;
	size_t n;
};
struct service_list service_list(const struct service_call *c, size_t at);
int64_t service_int(const struct service_call *c, size_t at);

/* Returns "" if it is not a text. */
const char *service_text(const struct service_call *c, size_t at);

/* Adds an entry with the value in b; frees b. */
int service_value(struct service_call *c, const char *objects, struct buf *b);

/* Adds the same error for an unknown object and an invisible one. */
int service_unknown(struct service_call *c, const char *token);

/* Marks objects that could not be asked as missing in the tool's reply, too. r may be NULL. */
void service_pass_missing(struct service_call *c, const struct reply *r);

/* A request of mainsm to the branches, on behalf of a tool's request. */
struct service_inquiry {
	struct list *runs; /* list that contains it while it exists */
	void (*on_done)(void *arg, struct reply *r); /* as run_spec.on_done */
	void (*abandon)(void *arg); /* as run_set_abandon() */
	void *arg;
};

/*
 * Returns 0: on_done is called once, maybe before this returns, and must lead to run_here_done(); c
 * must be copied for that. Consumes *request. Negative: it was not sent.
 */
int service_ask_branches(struct service_call *c, struct omis_request **request,
			 const struct service_inquiry *how);

/* The set of attached objects has changed. */
void service_follow(struct service_call *c);

/*
 * Waits until the csrs that service_follow() has armed are confirmed: 0, 1 as service_fn, negative.
 */
int service_await_armed(struct service_call *c);

/* Attaches o and answers with its token. */
int service_answer_attached(struct service_call *c, const struct object *o);

#endif
