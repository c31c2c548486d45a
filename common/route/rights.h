/* SPDX-License-Identifier: Apache-2.0 */
/* Rights of identities to use services. A service that is not granted is denied. */
#ifndef COMMON_ROUTE_RIGHTS_H
#define COMMON_ROUTE_RIGHTS_H

#include "common/omis/services/catalogue.h"
#include "common/omis/text/request.h"

#include <stdbool.h>

/* Returns false for an invalid right, for a service without a rule, and for NULL. */
bool route_may(enum omis_right has, const struct omis_service *s);

/*
 * Returns the right that a call needs: that of its service, or a higher one if its parameters
 * request guarded data. A parameter whose value is unknown counts as such a request. A call without
 * a service or a rule needs more than the highest right.
 */
enum omis_right route_right_of_call(const struct omis_call *c);

/* Like route_may(), for a call with its parameters. */
bool route_may_call(enum omis_right has, const struct omis_call *c);

/* Fails with ERR_DENIED, and a text such as "proc_send_signal needs the right manipulate". */
int route_denied(const struct omis_call *c, struct err *e);

/*
 * Returns the right of a certificate's role: "tool-observe", "tool-manipulate", "tool-admin";
 * otherwise OMIS_NO_RIGHT.
 */
enum omis_right route_right_of_role(const char *role);

/*
 * Returns the highest right that the actions of the request, and its event, need: checked before a
 * conditional request is defined.
 */
enum omis_right route_right_needed(const struct omis_request *r);

#endif
