/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a parsed request before it is planned and executed: names become services, and parameters
 * get the types of the service. Also binds the actions of a conditional request: event context
 * parameters become values.
 */
#ifndef COMMON_OMIS_SERVICES_CHECK_H
#define COMMON_OMIS_SERVICES_CHECK_H

#include "common/omis/text/request.h"

struct omis_diag {
	unsigned action; /* 0 = the event part, i = the i-th action */
	unsigned status; /* enum status */
	uint32_t offset; /* in the text */
	struct err err; /* words; ends "at offset N" */
};

/*
 * Sets each call's `service` and converts parameters to their types. A scalar becomes a list of
 * one, a list of one a scalar, and an INT a FLOAT. Parameters left out get their defaults. Event
 * context parameters are unchanged. d may be NULL. 0, -ERR_INVALID with d filled, -ERR_NOMEM. The
 * first error counts; the request must then be freed. A second check has no effect. Status:
 * UNKNOWN_SERVICE, UNSUPPORTED_SERVICE, TYPE_MISMATCH (kind of service or of a parameter),
 * PARAMETER_ERROR (number of parameters), UNKNOWN_ECP.
 */
int omis_check(struct omis_request *r, struct omis_diag *d);

struct added_services;

/*
 * As omis_check(); the request may also call services of plug-ins. Their calls become calls of the
 * built-in services that carry them: added.h.
 */
int omis_check_added(struct omis_request *r, const struct added_services *added,
		     struct omis_diag *d);

/*
 * Parses (omis_parse_inner()) and checks a text from another daemon. On failure *out is untouched
 * and d has the status for a reply: as of omis_check(), SYNTAX_ERROR, NO_MEMORY.
 */
int omis_read_inner(const char *p, size_t n, struct omis_request **out, struct omis_diag *d);

/* One event context parameter and its value; a list is spliced into the list that contains it. */
struct omis_ecp {
	const char *name; /* without '$' */
	struct omis_value value; /* no ECP in it */
};

struct omis_ecps {
	const struct omis_ecp *v;
	size_t n;
};

/* Actions [first, first + count) of a request; those beyond its end are ignored. */
struct omis_part {
	const struct omis_request *of;
	size_t first, count;
};

/*
 * Makes an unconditional request of these actions of a checked conditional request. Its ECPs are
 * replaced, and it is checked again. *out shares nothing with the request. The first action loses
 * its barrier. -ERR_INVALID with d (UNKNOWN_ECP if ecps lacks one, TYPE_MISMATCH if a value does
 * not fit; d->action counts in the request), -ERR_NOMEM.
 */
int omis_bind(const struct omis_part *part, const struct omis_ecps *ecps, struct omis_request **out,
	      struct omis_diag *d);

/*
 * Calls fn(arg, name) for each ECP in the call, nested lists included, in textual order. A repeated
 * ECP causes a call each time.
 */
void omis_call_ecps(const struct omis_call *c, void (*fn)(void *arg, const char *name), void *arg);

#endif
