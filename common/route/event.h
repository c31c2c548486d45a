/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the event of a csr can ever happen, by its parameters alone: names of library
 * calls and system calls, signals, addresses, regions. The check runs where the request is defined,
 * and again where its event is watched.
 */
#ifndef COMMON_ROUTE_EVENT_H
#define COMMON_ROUTE_EVENT_H

#include "common/base/err.h"
#include "common/omis/text/request.h"

/*
 * event: checked. -ERR_INVALID with a text: it never happens. A system call is looked up in the
 * table of this machine; a call of another machine must be given by its number.
 */
int event_check(const struct omis_call *event, struct err *e);

#endif
