/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_MEASURING_ENDED_H
#define TOOLS_MEASURING_ENDED_H

#include "tools/measuring.h"

/* All processes that the measurement saw had ended before the interval of this read began. Asks
 * mainsm, at most once a second. */
bool measuring_has_ended(struct measuring *m, const struct reading *r);

/* At the beginning: the job that is named has ended, and nobody has asked to wait for another one
 * of that name. */
bool measuring_is_too_late(struct measuring *m);

#endif
