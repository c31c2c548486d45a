/* SPDX-License-Identifier: Apache-2.0 */
/* Who may use which service. What is not granted is denied. */
#ifndef COMMON_ROUTE_RIGHTS_H
#define COMMON_ROUTE_RIGHTS_H

#include "common/omis/catalogue.h"
#include "common/omis/request.h"

#include <stdbool.h>

/* False for a right that is none of the enum, for a service without a rule, and for NULL. */
bool route_may(enum omis_right has, const struct omis_service *s);

/*
 * The right that a certificate's role carries: "tool-observe", "tool-manipulate", "tool-
 * admin"; else OMIS_NO_RIGHT.
 */
enum omis_right route_right_of_role(const char *role);

/*
 * The most that all actions of the request (and its event) need: what a
 * conditional request must be allowed before it is armed.
 */
enum omis_right route_right_needed(const struct omis_request *r);

#endif
