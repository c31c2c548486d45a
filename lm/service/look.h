/* SPDX-License-Identifier: Apache-2.0 */
/* Services that read what may hang: they wait for lm-look, one object after the other. */
#ifndef LM_SERVICE_LOOK_H
#define LM_SERVICE_LOOK_H

#include "common/tracer/tracer_msg.h"
#include "lm/helper/look_do.h"
#include "lm/task/task.h"

/* What does it; borrowed. */
struct look_on {
	struct host *host;
	struct helper *look; /* lm-look; NULL: the lm does that itself */
};

/* One object of a call, looked at. */
struct looked {
	struct token token;
	bool is_proc; /* else the node */
	int rc; /* below 0: e says why */
	struct err e;
	bool is_half_done; /* what failed had changed something, or may have */
	struct buf bytes; /* of memory, of a file */
	size_t nmodule;
	struct buf modules; /* a list of values, without brackets */
	bool is_over; /* the last answer has come */
};

struct look_spec {
	char class; /* of the objects of the first parameter */
	size_t max_bytes; /* of what comes */
	/* Says what is asked, which is the same of each object. *take is freed with the call: texts
	 * or bytes may be of it. */
	int (*fill)(struct service_call *c, struct tracer_msg *m, void **take, struct err *e);
	/* Adds the entry of one that succeeded. */
	int (*add)(struct service_call *c, const struct looked *o);
};

/* A service; one object after the other, so that only one is in memory. */
int look_serve(struct service_call *c, const struct look_on *on, const struct look_spec *spec);

#endif
