/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks for everything does not want to hear what has ended in the
 * meantime: an object counts as unknown only when the call named it.
 */
#ifndef COMMON_ROUTE_IMPLIED_H
#define COMMON_ROUTE_IMPLIED_H

#include "common/omis/reply/reply.h"
#include "common/omis/text/request.h"

/*
 * Takes out the UNKNOWN_OBJECT entries about processes and threads that were meant by [] or by
 * what contains them, and not named. Entries of action numbers[i] (NULL = 1, 2, ...) are about
 * call[i]. Returns how many went; without memory they stay.
 */
size_t route_drop_implied(struct reply *r, const struct omis_call *call, size_t n,
			  const uint32_t *numbers);

#endif
