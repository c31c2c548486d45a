/* SPDX-License-Identifier: Apache-2.0 */
/* Services whose reads may hang: lm-look does them, one object at a time. */
#ifndef LM_SERVICE_LOOK_H
#define LM_SERVICE_LOOK_H

#include "common/tracer/tracer_msg.h"
#include "lm/helper/look_do.h"
#include "lm/task/task.h"

/* The reader; borrowed. */
struct look_on {
	struct host *host;
	struct helper *look; /* lm-look; NULL: the lm itself reads */
};

/* The result for one object of a call. */
struct looked {
	struct token token;
	bool is_proc; /* process, else node */
	int rc; /* below 0: e has the reason */
	struct err e;
	bool is_half_done; /* a failed write has changed something, or may have */
	struct buf bytes; /* bytes of memory or of a file */
	size_t nmodule;
	struct buf modules; /* a list of values, without brackets */
	bool is_over; /* the last answer has arrived */
};

struct look_spec {
	char class; /* class of the objects of the first parameter */
	size_t max_bytes; /* of the result */
	/*
	 * Fills the request, which is the same for each object. *take is freed with the call: it
	 * may own texts or bytes of m.
	 */
	int (*fill)(struct service_call *c, struct tracer_msg *m, void **take, struct err *e);
	/* Adds the entry of an object that was read without an error. */
	int (*add)(struct service_call *c, const struct looked *o);
	/* Notes that an object got an error instead. May be NULL. */
	void (*failed)(struct service_call *c, const struct looked *o);
};

/* Runs a service one object at a time, so that only one result is in memory. */
int look_serve(struct service_call *c, const struct look_on *on, const struct look_spec *spec);

#endif
