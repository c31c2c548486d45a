/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a run, each with its reason. */
#ifndef NEKO_CORE_LIMITS_H
#define NEKO_CORE_LIMITS_H

#include "common/base/clock.h"

#include <stdint.h>

#define NEKO_PROCESSES_MAX 1000000 /* ten times what a run of 2 GiB holds */
#define NEKO_LAYERS_MAX 32 /* of a process; what is sent passes them on one stack */
#define NEKO_NETS_MAX 8 /* an algorithm uses two or three */
#define NEKO_TYPES_MAX 1024 /* of messages: entries of a table that each send searches */
/* a UDP datagram with our longest header */
#define NEKO_CONTENT_MAX_BYTES (62 * 1024)
#define NEKO_QUEUE_MAX 1048576 /* messages that wait for one layer: it has stopped receiving */
/* 146 years, the end of all runs: sums of delays and waits do not overflow */
#define NEKO_TIME_MAX (INT64_MAX / 2)
#define NEKO_EVENTS_MAX (1u << 30) /* of the queue: 32 GiB, memory ends before */
/* in a row by one layer: no time passes, and the run would never end */
#define NEKO_POLLS_MAX 1000000
/* events: thirty thousand processes that all send to all at once */
#define NEKO_SAME_TIME_MAX 1000000000
/* of layers between two events: ten for each of the maximum of processes */
#define NEKO_TURNS_MAX (10 * NEKO_PROCESSES_MAX)
/* nested calls of layers: all of them down and up twice, on one stack */
#define NEKO_DEPTH_MAX (4 * NEKO_LAYERS_MAX)
/* answers CLOSED after which a layer that continues is abandoned */
#define NEKO_CLOSED_MAX 1000
/* of an active layer, touched only as needed; printf needs 10 KiB */
#define NEKO_STACK_BYTES (64 * 1024)
/* data that have not arrived by then after the end of a run are lost */
#define MEASURE_SETTLE_NS (10 * NSEC_PER_SEC)

#endif
