/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements: graphs of data, evaluated at the sources. */
#include "common/omis/services/services.h"

#define DFGS P_TOKENS("dfg_list", 'd')
#define OBJECTS P_TOKENS("objects", 0)

static const struct omis_service dfg[] = {
	{ EXT_SERVICE("dfg", "dfg_add", MANIP, 'd', TOP, OBSERVE, DONE), .param = { DFGS, OBJECTS },
	  .help = "Measures these objects, and what is in them, too; values of the others stay." },
	{ EXT_SERVICE("dfg", "dfg_check", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("text") },
	  .result = "[[kind, offset, length, line, column, words, hint]...], [[metric, unit, "
		    "[[parameter, type]...]]...]",
	  .help = "Checks a text of the metric language and measures nothing. kind: \"error\" or "
		  "\"warning\". offset: bytes before the place; -1 if it is about no place, and "
		  "line and column are 0 then. The metrics are those without errors. The metrics "
		  "that the tool's user has added are known." },
	{ EXT_SERVICE("dfg", "dfg_create", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { OBJECTS, P_STRING("text"), P_STRING("metric"), P_ANYS_OR("options", "[]"),
		     P_ANYS_OR("parameters", "[]") },
	  .result = "dfg",
	  .help = "Makes a measurement of the metric in a text of the metric language, or of a "
		  "built-in one (text \"\"), on attached objects; [] = all, also those to come. "
		  "Options, by name, value: every_ms (1000; 0: dfg_read says when), mode "
		  "\"start\" or \"last\", rate 1 (divided by the time in seconds), by "
		  "\"process\", \"node\" or \"site\", agg (how many values become one), until (a "
		  "rule, \"ci(0.95) < 5%\", that stops it when there are enough values of each "
		  "object), name (of the text, in words about it), central 1 (all at the top, to "
		  "compare). Parameters of the metric, by name, value." },
	{ EXT_SERVICE("dfg", "dfg_delete", MANIP, 'd', TOP, OBSERVE, DONE), .param = { DFGS },
	  .help = "Ends measurements everywhere." },
	{ EXT_SERVICE("dfg", "dfg_get_info", INFO, 'd', TOP, OBSERVE, DONE),
	  .param = { DFGS, P_FLAGS("flags") },
	  .result = "[fields by bits of flags: 0 what; 1 objects; 2 sizes; 3 reads; 4 troubles; 5 "
		    "graph; 6 counts; 7 links; 8 until]",
	  .help = "What is known of measurements, a list for each bit; omis.md says what is in "
		  "them." },
	{ EXT_SERVICE("dfg", "dfg_has_read", EVENT, 'd', TOP, OBSERVE, DONE), .param = { DFGS },
	  .ecps = "dfg read until values more lost enough greatest least unknown",
	  .help = "An interval has ended: $read its number, $until its end in ns, $values a list "
		  "of [object, key, value, bound, time, oldest, newest, k, n, flags]; the key is "
		  "the virtual time, or the number of the read. More is 1 when further values of "
		  "this read follow; lost counts those without room; enough is 1 in the last "
		  "event of a measurement that its rule has stopped. For predicates: $greatest and "
		  "$least of all values of the read (nan: none is known), and $unknown, the number "
		  "of contributors without one." },
	{ EXT_SERVICE("dfg", "dfg_list", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "[dfg, tool, identity, metric, unit, state, mode, every_ms, rate, by, "
		    "each_vt]...",
	  .help = "The measurements of all tools of this monitor." },
	{ EXT_SERVICE("dfg", "dfg_look", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { DFGS, P_FLAGS("flags") }, .result = "as of dfg_get_info",
	  .help = "As dfg_get_info, of measurements of any tool." },
	{ EXT_SERVICE("dfg", "dfg_read", MANIP, 'd', TOP, OBSERVE, DONE), .param = { DFGS },
	  .result = "read, until, [values]",
	  .help = "Ends an interval now, and waits for its values, as of dfg_has_read. Of a "
		  "measurement with an interval of its own: waits for its next read." },
	{ EXT_SERVICE("dfg", "dfg_remove", MANIP, 'd', TOP, OBSERVE, DONE),
	  .param = { DFGS, OBJECTS },
	  .help = "Does not measure these objects, nor what is in them: also a process of a node "
		  "that was named, or of all." },
	{ EXT_SERVICE("dfg", "dfg_start", MANIP, 'd', TOP, OBSERVE, DONE), .param = { DFGS },
	  .help = "Starts measurements, again when they were stopped, and waits until all hosts "
		  "have them." },
	{ EXT_SERVICE("dfg", "dfg_stop", MANIP, 'd', TOP, OBSERVE, DONE), .param = { DFGS },
	  .help = "Takes measurements away from the hosts." },
};

const struct omis_services omis_services_dfg = SERVICES(dfg);
