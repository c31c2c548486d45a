/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a struct reply to the arrays of omis.h. */
#ifndef TOOLS_LIBOMIS_ANSWER_H
#define TOOLS_LIBOMIS_ANSWER_H

#include "common/omis/reply/reply.h"
#include "tools/libomis/omis.h"

/*
 * One allocation, for omis_reply_free(). Of the flags only OMIS_DONT_RETURN_OK has an effect.
 * Returns NULL without memory.
 */
Omis_reply answer_from_reply(const struct reply *r, Omis_flags flags);

/* Makes a reply with one status for the request as a whole. */
Omis_reply answer_from_status(Omis_status status, const char *words);
Omis_reply answer_from_words(Omis_status status, const char *words, size_t n);

/* True if it contains nothing but OK, which OMIS_DONT_RETURN_OK leaves out. */
int answer_is_empty(Omis_reply r);

#endif
