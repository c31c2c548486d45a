/* SPDX-License-Identifier: Apache-2.0 */
/* The last error, for omis_last_error(). */
#ifndef TOOLS_LIBOMIS_WORDS_H
#define TOOLS_LIBOMIS_WORDS_H

#include "common/base/err.h"
#include "tools/libomis/omis.h"

/* Stores e's text; NULL clears it. Returns the status that corresponds to e. */
Omis_status words_keep(const struct err *e);

#endif
