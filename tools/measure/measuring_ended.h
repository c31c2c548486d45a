/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_MEASURING_ENDED_H
#define TOOLS_MEASURING_ENDED_H

#include "tools/measure/measuring.h"

/* All processes that the measurement saw had ended before the interval of this read began. Asks
 * mainsm, at most once a second. */
bool measuring_has_ended(struct measuring *m, const struct reading *r);

/* At the beginning: the named job has ended, and the user has not asked for the next job of that
 * name. */
bool measuring_is_too_late(struct measuring *m);

#endif
