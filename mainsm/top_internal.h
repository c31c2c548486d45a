/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the services of the top: one file a family. */
#ifndef MAINSM_TOP_INTERNAL_H
#define MAINSM_TOP_INTERNAL_H

#include "common/omis/catalogue.h"
#include "mainsm/csr.h"
#include "mainsm/directory.h"
#include "common/daemon/executor.h"
#include "mainsm/session.h"
#include "mainsm/top.h"

#define TOP_VALUE_MAX_BYTES (8 * 1024 * 1024)

struct top {
	struct top_conf conf;
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
extern const struct top_service top_attach_services[], top_csr_services[], top_pa_services[], top_ask_services[],
	top_admin_services[];

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

#endif
