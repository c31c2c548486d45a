/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong last, for omis_last_error(). */
#ifndef TOOLS_LIBOMIS_WORDS_H
#define TOOLS_LIBOMIS_WORDS_H

#include "common/base/err.h"
#include "tools/libomis/omis.h"

/* Keeps e's text; NULL forgets. Returns the status that fits e. */
Omis_status words_keep(const struct err *e);

#endif
