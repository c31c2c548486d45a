/* SPDX-License-Identifier: Apache-2.0 */
/* Trace buffers: records of events, which are stored on their hosts until a tool requests them. */
#include "common/omis/services/services.h"

#define BUFFERS P_TOKENS("buffer_list", 'b')

static const struct omis_service trace[] = {
	{ EXT_SERVICE("trace", "trace_buffer_append", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("buffer", 'b'), P_FLOAT("time"), P_INT("type"), P_ANYS("values") },
	  .help = "Appends a record to the part of the process that the event happens in; outside "
		  "of an event to each part. What finds no room is dropped and counted; the first "
		  "time since the last reading that is an error, too." },
	{ EXT_SERVICE("trace", "trace_buffer_create", MANIP, 'p', TOP, OBSERVE, DONE),
	  .param = { PROCS }, .result = "buffer",
	  .help = "Makes a trace buffer with a part for each of these processes. It ends with its "
		  "tool, and what is in it with the lm of the host." },
	{ EXT_SERVICE("trace", "trace_buffer_delete", MANIP, 'a', EACH, OBSERVE, DONE),
	  .param = { BUFFERS }, .help = "Deletes trace buffers with all that is in them." },
	{ EXT_SERVICE("trace", "trace_buffer_read", INFO, 'a', NODE, OBSERVE, DONE),
	  .param = { BUFFERS, P_INT_OR("max", "1000") },
	  .result = "an entry a process: buffer, number of the first record, records left, records "
		    "dropped so far, [time, type, [values]]...",
	  .help = "Takes the oldest records out, at most max of each process. Numbers continue "
		  "from 0, so that a reply that was lost shows as a gap." },
};

const struct omis_services omis_services_trace = SERVICES(trace);
