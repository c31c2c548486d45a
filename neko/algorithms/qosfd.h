/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure detector of a given quality of service (Chen, Toueg and Aguilera, 2002), for the layers
 * above. It detects crashes by heartbeats. In addition it makes mistakes as configured, independent
 * for each pair of processes.
 *
 *	qos.detection  = 100ms   (T_D: a crash is detected in this time, and not before T_D - eta)
 *	qos.eta        = 25ms    (between heartbeats; a quarter of T_D)
 *	qos.recurrence = 0s      (T_MR: mean time from a mistake to the next, exponential; 0: none)
 *	qos.duration   = 0s      (T_M: mean duration of a mistake, exponential; 0: it ends at once)
 *	qos.network    = 1       (of the heartbeats)
 */
#ifndef NEKO_ALGORITHMS_QOSFD_H
#define NEKO_ALGORITHMS_QOSFD_H

#include "neko/core/neko.h"

#define QOSFD_BEAT 920
/*
 * Message to the layer above, from the process that is suspected or trusted: 1 byte, 1 = suspected.
 */
#define QOSFD_CHANGE 921

/* Adds the layer. The key qos.network is the number of the network for its heartbeats, from 1. */
int qosfd_init(struct neko_process *p, struct setup *s, struct err *e);

#endif
