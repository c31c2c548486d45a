/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_MEASURE_MEASUREMENT_ENDED_H
#define TOOLS_MEASURE_MEASUREMENT_ENDED_H

#include "tools/measure/measurement.h"

/*
 * True if all processes of the measurement had ended before the interval of this read began. Sends
 * a request to mainsm, at most once a second.
 */
bool measurement_has_ended(struct measurement *m, const struct reading *r);

/*
 * At the beginning: true if the named job has ended, and the user has not requested the next job of
 * that name.
 */
bool measurement_is_too_late(struct measurement *m);

#endif
