/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of a call for all objects. An object that has ended counts as unknown only if the call has
 * named it.
 */
#ifndef COMMON_ROUTE_IMPLIED_H
#define COMMON_ROUTE_IMPLIED_H

#include "common/omis/reply/reply.h"
#include "common/omis/text/request.h"

/*
 * Removes the UNKNOWN_OBJECT entries of processes and threads that the call included by [] or by
 * their containers only. Entries of action numbers[i] (NULL = 1, 2, ...) belong to call[i]. Returns
 * how many were removed; without memory they stay.
 */
size_t route_drop_implied(struct reply *r, const struct omis_call *call, size_t n,
			  const uint32_t *numbers);

#endif
