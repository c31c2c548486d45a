/* SPDX-License-Identifier: Apache-2.0 */
/* From a struct reply to the arrays of omis.h. */
#ifndef TOOLS_LIBOMIS_ANSWER_H
#define TOOLS_LIBOMIS_ANSWER_H

#include "common/omis/reply/reply.h"
#include "tools/libomis/omis.h"

/* One allocation, for omis_reply_free(). Of the flags OMIS_DONT_RETURN_OK counts. NULL without
 * memory. */
Omis_reply answer_from_reply(const struct reply *r, Omis_flags flags);

/* A reply that says one thing about the request as a whole. */
Omis_reply answer_from_status(Omis_status status, const char *words);
Omis_reply answer_from_words(Omis_status status, const char *words, size_t n);

/* Says nothing at all but OK: what OMIS_DONT_RETURN_OK does not want to see. */
int answer_is_empty(Omis_reply r);

#endif
