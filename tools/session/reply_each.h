/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a service's reply, object by object. */
#ifndef TOOLS_SESSION_REPLY_EACH_H
#define TOOLS_SESSION_REPLY_EACH_H

#include "tools/libomis/omis.h"

#define REPLY_TOKEN_BYTES 64

typedef void (*reply_each_fn)(void *arg, const char *token, const Omis_value *v);

/*
 * Calls fn for each object that has a value. Objects with equal values may share an entry. Entries
 * may be NULL: an action without a reply.
 */
void reply_each(const Omis_object_result *entries, reply_each_fn fn, void *arg);

#endif
