/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights of the tool that sent a request. Its identity travels with the request; the daemons in
 * between can only reduce its rights.
 */
#ifndef LM_TASK_RIGHTS_H
#define LM_TASK_RIGHTS_H

#include "common/omis/omis.h"

/* Returns the right of an identity (omig:ROLE/SITE/HOST); OMIS_NO_RIGHT if it is not a tool's. */
enum omis_right rights_of(const char *identity);

/* Returns the smaller of the identity's right and the claimed one. */
enum omis_right rights_least(const char *identity, uint32_t claimed);

/*
 * True if the identity may watch for the event and have the first `prefix` actions executed here.
 * *right: its right.
 */
bool rights_allow(const char *identity, const struct omis_request *r, size_t prefix,
		  enum omis_right *right);

#endif
