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
	uint32_t offset; /* offset in the text */
	struct err err; /* its text ends with "at offset N" */
};

/*
 * Sets each call's `service` and converts parameters to their types. A scalar becomes a list of
 * one, a list of one a scalar, and an INT a FLOAT. Missing parameters get their defaults. Event
 * context parameters are unchanged. d may be NULL. Fails with ERR_INVALID and the first error in d,
 * and with ERR_NOMEM; the request must then be freed. A second check has no effect. Status:
 * UNKNOWN_SERVICE, UNSUPPORTED_SERVICE, TYPE_MISMATCH (kind of service or of a parameter),
 * PARAMETER_ERROR (number of parameters), UNKNOWN_ECP.
 */
int omis_check(struct omis_request *r, struct omis_diag *d);

struct added_services;

/*
 * Checks like omis_check(). The request may also call services of plug-ins, which become calls of
 * the built-in services that carry them: added.h.
 */
int omis_check_added(struct omis_request *r, const struct added_services *added,
		     struct omis_diag *d);

/*
 * Parses (omis_parse_inner()) and checks a text from another daemon. On failure *out is untouched,
 * and d has the status for a reply: one of omis_check(), SYNTAX_ERROR or NO_MEMORY.
 */
int omis_read_inner(const char *p, size_t n, struct omis_request **out, struct omis_diag *d);

/*
 * An event context parameter and its value. A list is spliced into the list that contains the
 * parameter.
 */
struct omis_ecp {
	const char *name; /* without '$' */
	struct omis_value value; /* without context parameters in it */
};

struct omis_ecps {
	const struct omis_ecp *v;
	size_t n;
};

/* Actions [first, first + count) of a request; numbers beyond its end are ignored. */
struct omis_part {
	const struct omis_request *of;
	size_t first, count;
};

/*
 * Makes an unconditional request of these actions of a checked conditional request. Event context
 * parameters (ECPs) are replaced by values, and the new request is checked. *out shares no memory
 * with the request. The first action loses its barrier. Fails with ERR_NOMEM, and with ERR_INVALID
 * and d: UNKNOWN_ECP if ecps lacks one, TYPE_MISMATCH if a value does not fit. d->action counts in
 * the original request.
 */
int omis_bind(const struct omis_part *part, const struct omis_ecps *ecps, struct omis_request **out,
	      struct omis_diag *d);

/*
 * Calls fn(arg, name) for each event context parameter in the call and in nested lists, in text
 * order. A repeated one causes several calls.
 */
void omis_call_ecps(const struct omis_call *c, void (*fn)(void *arg, const char *name), void *arg);

#endif
