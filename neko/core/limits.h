/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a run, each with its reason. */
#ifndef NEKO_CORE_LIMITS_H
#define NEKO_CORE_LIMITS_H

#include "common/base/clock.h"

#include <stdint.h>

/* ten times the processes for which 2 GiB of memory suffice */
#define NEKO_PROCESSES_MAX 1000000
#define NEKO_LAYERS_MAX 32 /* layers of a process: each message passes them on one stack */
#define NEKO_NETS_MAX 8 /* networks: an algorithm uses two or three */
#define NEKO_TYPES_MAX 1024 /* types of messages: each send searches a table of this size */
/* largest content: a UDP datagram with our longest header */
#define NEKO_CONTENT_MAX_BYTES (62 * 1024)
/* messages that wait for one layer: at this number it has stopped receiving */
#define NEKO_QUEUE_MAX 1048576
/* 146 years, the end of any run, so that sums of delays and waits do not overflow */
#define NEKO_TIME_MAX (INT64_MAX / 2)
/* events in the queue: they take 32 GiB, and memory ends before */
#define NEKO_EVENTS_MAX (1u << 30)
/* polls of one layer in a row: no time passes, so the run would never end */
#define NEKO_POLLS_MAX 1000000
/* events at one time: as if thirty thousand processes sent to all others at once */
#define NEKO_SAME_TIME_MAX 1000000000
/* turns of layers between two events: ten for each of the maximum of processes */
#define NEKO_TURNS_MAX (10 * NEKO_PROCESSES_MAX)
/* nested calls of layers: through all layers down and up twice, on one stack */
#define NEKO_DEPTH_MAX (4 * NEKO_LAYERS_MAX)
/* results NEKO_CLOSED after which a layer that does not return is abandoned */
#define NEKO_CLOSED_MAX 1000
/* stack of an active layer, used only as needed; printf needs 10 KiB */
#define NEKO_STACK_BYTES (64 * 1024)
/* time after the end of a run: data that arrive later are lost */
#define MEASURE_SETTLE_NS (10 * NSEC_PER_SEC)

#endif
