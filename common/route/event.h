/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can the event of a conditional request ever happen? Its parameters alone are checked: names of
 * library calls and system calls, signals, addresses, regions. The check runs where the request is
 * defined, and again where its event is watched for.
 */
#ifndef COMMON_ROUTE_EVENT_H
#define COMMON_ROUTE_EVENT_H

#include "common/base/err.h"
#include "common/omis/text/request.h"

/*
 * event: checked. -ERR_INVALID with words: it never happens. A system call is looked up in the
 * table of this machine; one that only another machine has goes by its number.
 */
int event_check(const struct omis_call *event, struct err *e);

#endif
