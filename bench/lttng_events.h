/* SPDX-License-Identifier: Apache-2.0 */
/* Paper 001's event for LTTng-UST, whose macros include the file twice. It is unused without
 * LTTng-UST. */
#if __has_include(<lttng/tracepoint.h>)
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER omig_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/lttng_events.h"

#if !defined(BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_EVENTS_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(omig_bench, my_event, LTTNG_UST_TP_ARGS(int, my_int, float, my_float),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, my_int, my_int)
						       lttng_ust_field_float(float, my_float,
									     my_float)))
#endif
#include <lttng/tracepoint-event.h>
#endif
