/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of lm/proc: call sites of a segment, for totals_take(). */
#ifndef LM_PROC_TOTALS_SITE_H
#define LM_PROC_TOTALS_SITE_H

#include "lm/proc/totals.h"

int totals_take_sites(const struct segview *v, struct totals *t);

#endif
