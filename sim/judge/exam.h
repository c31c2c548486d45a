/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks counters to the byte in a world without faults. Programs make the calls that the exam
 * requests. Meanwhile processes begin, a link is slow, and frames to parents are sent twice. The
 * requirements:
 *
 * - Each call is reported exactly once, whatever version of its conditional request watched for it.
 * - Objects without a value do not contribute.
 * - The parts of each read have the values that were sent in its interval, and the right number of
 *   contributors.
 */
#ifndef SIM_JUDGE_EXAM_H
#define SIM_JUDGE_EXAM_H

#include "sim/nodes/cluster.h"

/*
 * Requires that all links and disks work, and that no daemon is rogue. Takes virtual time. A
 * violated rule breaks the world.
 */
void exam(struct cluster *c);

#endif
