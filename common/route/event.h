/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the event of a csr can ever occur, by its parameters alone: names of library calls
 * and system calls, signals, addresses, regions. The check runs where the request is defined, and
 * again where its event is watched.
 */
#ifndef COMMON_ROUTE_EVENT_H
#define COMMON_ROUTE_EVENT_H

#include "common/base/err.h"
#include "common/omis/text/request.h"

/*
 * event: checked by omis_check(). Fails with ERR_INVALID, and a text, if the event can never occur.
 * A system call is looked up in the table of this machine; a call of another machine must be given
 * by its number.
 */
int event_check(const struct omis_call *event, struct err *e);

#endif
