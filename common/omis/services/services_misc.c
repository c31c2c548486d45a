/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, the monitor's own objects, and queries about the monitor. */
#include "common/omis/services/services.h"

#define INSIDE_MPI \
	"Not done: messages lie inside the MPI library, which gives none out and takes none back."

static const struct omis_service message[] = {
	{ SERVICE("message_copy", MANIP, 'm', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKEN("source", 'm'), P_TOKEN("destination", 'm') },
	  .help = "Copies a message over another. " INSIDE_MPI },
	{ SERVICE("message_create", MANIP, 0, NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .result = "message",
	  .help = "Makes an empty message. " INSIDE_MPI },
	{ SERVICE("message_destroy", MANIP, 'm', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKENS("message_list", 'm') },
	  .help = "Destroys messages. " INSIDE_MPI },
	{ SERVICE_ON(1, "", "message_insert_into_queue", MANIP, 'q', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL,
	  .param = { P_TOKEN("message", 'm'), P_TOKEN("queue", 'q'), P_INT("position") },
	  .help = "Puts a message, uncopied, into a queue; 0 = in front, "
		  "-1 = at the end. " INSIDE_MPI },
	{ SERVICE("message_queue_clear", MANIP, 'q', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKENS("queue_list", 'q') },
	  .help = "Empties message queues. " INSIDE_MPI },
	{ SERVICE("message_queue_get_info", INFO, 'p', NODE, OBSERVE, PARTLY),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKENS("queue_list", 'p'), P_FLAGS("flags") },
	  .result = "length, [fields by bits of flags: 0 message; 1 sender; 2 size; 3 "
		    "monitor_tag; 4 receiver; 5 tag; 6 comm; 7 call; 8 age; 9 before]..., "
		    "since, lost, unknown, with bit 10 of flags [a call as in "
		    "omig_calls_now]...",
	  .help = "The sends and receives that a process has posted and not completed, "
		  "oldest first; a queue is named by its process. Ranks are those of the world, "
		  "-1 is any; size is the room of a receive. The first question switches the list "
		  "on, which begins at since with the blocking calls that threads are in "
		  "(omig_calls_disable and the tool's end switch it off): before is 1, size -1 "
		  "for unknown, age at the least so much. Unknown is 1 where requests may have "
		  "been posted before since, which are not listed; lost were not listed either. "
		  "Bit 10 adds the calls of any kind that threads are in or repeat, as waits, "
		  "probes and collectives. What has arrived unasked for is known to the MPI "
		  "library only." },
	{ SERVICE("message_queue_has_been_extended", EVENT, 'q', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKENS("queue_list", 'q') },
	  .ecps = "queue msg sender size monitor_tag",
	  .help = "A message was added to a queue. Not done: the MPI library calls no "
		  "tool when one arrives." },
	{ SERVICE("message_queue_remove", MANIP, 'q', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { P_TOKEN("queue", 'q'), P_TOKEN("message", 'm') },
	  .help = "Takes a message out of a queue. " INSIDE_MPI },
	{ SERVICE("message_tag", MANIP, 'm', NODE, MANIPULATE, UNSUPPORTED), .flags = OMIS_OPTIONAL,
	  .param = { P_TOKENS("message_list", 'm'), P_INT("tag") },
	  .help = "Marks messages for thread_has_received_tagged_msg, unseen by the "
		  "application. Not done: a mark that travels with a message would be another "
		  "message." },
};

#define CSRS P_TOKENS("csr_list", 'c')

static const struct omis_service misc[] = {
	{ SERVICE("csr_delete", MANIP, 'c', TOP, OBSERVE, DONE), .param = { CSRS },
	  .help = "Deletes conditional requests. One whose actions run ends them first." },
	{ SERVICE("csr_disable", MANIP, 'c', TOP, OBSERVE, DONE), .param = { CSRS },
	  .help = "Makes conditional requests ignore their events." },
	{ SERVICE("csr_enable", MANIP, 'c', TOP, OBSERVE, DONE), .param = { CSRS },
	  .help = "Makes conditional requests wait for their events." },
	{ SERVICE("extensions", INFO, 0, TOP, OBSERVE, DONE), .result = "n, prefixes...",
	  .help = "The prefixes of the extensions that this monitor has." },
	{ SERVICE("print", INFO, 0, TOP, OBSERVE, DONE), .param = { P_ANYS("values") },
	  .result = "n, values...",
	  .help = "Gives back its parameters, their number first: how a tool gets to see event "
		  "context parameters. One that is a list adds its members; [$par1] keeps it a "
		  "list." },
	{ SERVICE("services", INFO, 0, TOP, OBSERVE, DONE), .param = { P_STRING("prefix") },
	  .result = "n, names of the services done in full..., n, names of those done in part...",
	  .help = "The services of an extension that this monitor really offers; \"\" = the basic "
		  "ones." },
	{ SERVICE("user_event_create", MANIP, 0, TOP, OBSERVE, DONE), .result = "event",
	  .help = "Makes an event that tools raise themselves." },
	{ SERVICE("user_event_destroy", MANIP, 'e', TOP, OBSERVE, DONE),
	  .param = { P_TOKENS("event_list", 'e') },
	  .help = "Destroys user events. Conditional requests that wait for them are the tool's "
		  "to delete." },
	{ SERVICE("user_event_has_been_raised", EVENT, 'e', TOP, OBSERVE, DONE),
	  .param = { P_TOKENS("event_list", 'e') }, .ecps = "par",
	  .help = "A user event was raised; $par1.. are the values given to user_event_raise." },
	{ SERVICE("user_event_raise", MANIP, 'e', TOP, OBSERVE, DONE),
	  .param = { P_TOKENS("event_list", 'e'), P_ANYS("values"), P_INT("resume") },
	  .help = "Raises user events. With resume 0 the object that triggered this action is the "
		  "source of the event." },
	{ SERVICE("version", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "omis_major, omis_minor, ident, major, minor",
	  .help = "Version of the interface (2, 0), and name and version of this monitor." },
};

const struct omis_services omis_services_message = SERVICES(message);
const struct omis_services omis_services_misc = SERVICES(misc);
