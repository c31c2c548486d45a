/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tool at the far end may do. Its identity travels with the request;
 * what the daemons in between claim can only make it less.
 */
#ifndef LM_TASK_RIGHTS_H
#define LM_TASK_RIGHTS_H

#include "common/omis/omis.h"

/* The right of an identity (omig:ROLE/SITE/HOST); OMIS_NO_RIGHT when it is none of a tool. */
enum omis_right rights_of(const char *identity);

/* The smaller of what the identity carries and what is claimed. */
enum omis_right rights_least(const char *identity, uint32_t claimed);

/* May the identity watch for the event, and have the first `prefix` actions done here? *right: what
 * it may do. */
bool rights_allow(const char *identity, const struct omis_request *r, size_t prefix,
		  enum omis_right *right);

#endif
