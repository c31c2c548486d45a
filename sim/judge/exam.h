/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures to the byte, when all is whole: programs call as the exam has them call, while processes
 * begin, a line is slow and what is sent up comes twice. Each call is reported exactly once
 * whatever version of its conditional request watched for it, objects without a value do not
 * contribute, and the parts of all reads are what was sent in their time, with as many contributors
 * as were heard.
 */
#ifndef SIM_JUDGE_EXAM_H
#define SIM_JUDGE_EXAM_H

#include "sim/nodes/cluster.h"

/* All is whole, and no daemon is rogue. Takes its (virtual) time; what does not hold breaks the
 * world. */
void exam(struct cluster *c);

#endif
