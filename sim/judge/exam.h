/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters to the byte, when all is whole. Programs make the calls that the exam requests.
 * Meanwhile processes begin, a line is slow, and what is sent up comes twice. What must hold:
 *
 * - Each call is reported exactly once, whatever version of its conditional request watched for it.
 * - Objects without a value do not contribute.
 * - The parts of all reads are what was sent in their time. They have as many contributors as
 *   were received.
 */
#ifndef SIM_JUDGE_EXAM_H
#define SIM_JUDGE_EXAM_H

#include "sim/nodes/cluster.h"

/*
 * All links and disks work, and no daemon is rogue. Takes (virtual) time; a violated rule breaks
 * the world.
 */
void exam(struct cluster *c);

#endif
