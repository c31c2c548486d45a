/* SPDX-License-Identifier: Apache-2.0 */
/* Services that this monitor adds to the standard. */
#include "common/omis/services/services.h"

/* Parameters behind the objects, of services that carry calls of plug-ins (added.h). */
#define CARRIED P_STRING("name"), P_ANYS("values")
#define ENTERED "[pid, state, slots, skipped, stopped_ns, why]..."

static const struct omis_service omig[] = {
	{ EXT_SERVICE("omig", "omig_at_most", INFO, 0, EVENT, OBSERVE, DONE),
	  .param = { P_FLOAT("per_second") },
	  .help = "A predicate of events: at most per_second a second start the actions (one in "
		  "1/per_second seconds when it is below 1), the others end here." },
	{ EXT_SERVICE("omig", "omig_attach", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .param = { NODES, P_INTS("pids") }, .result = ENTERED,
	  .help = "Watches processes that were started unwatched. libomig enters each at its next "
		  "call of MPI; until then state is \"pending\", then \"watched\". \"failed\", "
		  "\"refused\": it is not watched, and why. slots: places in the program that lead "
		  "to libomig. skipped: those of other tools, which stay. stopped_ns: how long its "
		  "first thread was stopped. Repeated: finds libraries that were loaded since." },
	{ EXT_SERVICE("omig", "omig_attached", INFO, 'n', NODE, MANIPULATE, DONE),
	  .param = { NODES, P_INTS("pids") }, .result = ENTERED,
	  .help = "As omig_attach, the present state only." },
	{ EXT_SERVICE("omig", "omig_audit", INFO, 'n', EACH, ADMIN, DONE),
	  .param = { NODES, P_INT_OR("since", "0"), P_INT_OR("max", "100") },
	  .result = "daemon, host, left_out, more, [number, time, daemon, host, identity, session, "
		    "csr, "
		    "call, objects, failed, status, why, left_out]...",
	  .help = "What was done to programs and refused, as each daemon wrote it down: the "
		  "newest first, at most max (1000) with a number above since. Numbers are the "
		  "wall time in ns, ascending. left_out: entries that do not stand there, for "
		  "refusals were too many or the disk was full. more is 1 when older ones would "
		  "be of interest." },
	{ EXT_SERVICE("omig", "omig_backtrace", INFO, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT_OR("depth", "0") },
	  .result = "n, [pc, fp, module, symbol, offset, file, line]...",
	  .help = "As thread_get_backtrace, with the file that each frame's code is of, the "
		  "function by its symbol (\"\" when the file has none) and the distance from its "
		  "beginning. file and line: the place in the source, \"\" and 0 without debug "
		  "information." },
	{ EXT_SERVICE("omig", "omig_calls_disable", MANIP, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS },
	  .help = "Takes back what this tool enabled, also under an lm that was killed since; the "
		  "count continues for other tools." },
	{ EXT_SERVICE("omig", "omig_calls_enable", MANIP, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS, P_STRING("what"), P_INT_OR("sample_shift", "0"),
		     P_INT_OR("depth", "1") },
	  .help = "Counts all library calls of processes. what: count; time (also the time in "
		  "calls); volume (also bytes); partner (volume, also by partner); site (volume, "
		  "also by the place of the program that calls, with the callers of that place up "
		  "to depth, 1 to 4). Time is taken on one call in 2^sample_shift." },
	{ EXT_SERVICE("omig", "omig_calls_now", INFO, 'p', NODE, OBSERVE, DONE), .param = { PROCS },
	  .result = "time_ns, job, rank, world_size, [tid, name, class, state, seconds, exact, "
		    "partner, tag, comm, number, source, source_tag, world]...",
	  .help = "The library call that each thread is in, whether calls are counted or not. "
		  "state: 0 in it; 1 asks again and again, by MPI_Test, MPI_Iprobe or their kin; "
		  "2 in no call since that one. seconds in that state: with exact 0 so long at "
		  "least, for the monitor has seen it as long. partner: rank in the world, -1 any "
		  "or not known, -2 none. tag: -1 any or none. number differs from call to call "
		  "of a thread. source, source_tag: what a Sendrecv receives, as partner and tag. "
		  "world: 1 where comm is MPI_COMM_WORLD." },
	{ EXT_SERVICE("omig", "omig_calls_profile", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS, P_STRING("by"), P_INT_OR("window", "0") },
	  .result = "time_ns, node, ranks, ended, untimed, unread, marked, timed_ns, longest_ns, "
		    "word, left_out, lost, [row]...",
	  .help = "Sums of what omig_calls_enable counts: an entry for all processes of a node. by "
		  "is one of: call (rows name, class, count, delay_ns, in_call, bytes_out, bytes_in, "
		  "most_rank, most_ns, ranks, shortest_ns, longest_ns); rank (rank, process, ended, count, delay_ns, "
		  "bytes_out, bytes_in, timed_ns, name, name_ns of the call with most time); "
		  "partner (rank, partner, count, delay_ns, bytes_out, bytes_in); site (name, "
		  "process, count, delay_ns, longest_ns, bytes_out, bytes_in, most_rank, most_ns, "
		  "ranks, then [file, address] of the call and of its callers); size (name, from, "
		  "to, count, delay_ns, bytes of calls that moved from to to bytes; to is -1 where "
		  "there is no end). shortest_ns and longest_ns are of one call that has ended and was "
		  "measured: 0 where there is none, -1 where it is not known since a mark. window: 0 since "
		  "counting began; 1 the same, and values are marked; 2 since the marks of this "
		  "tool, which are set again. timed_ns: how long the time of all calls was measured, "
		  "of all ranks together, longest_ns of one. untimed: ranks without such a time, "
		  "unread: processes whose segment is gone, marked: ranks with a mark. word: what "
		  "all of them count, as bits of a hook. left_out: rows of partners beyond 4096, "
		  "of sites beyond 2048, or of sizes beyond 256 KiB. lost: calls that ranks had no room for, which stand in no "
		  "row of partners, sites or sizes." },
	{ EXT_SERVICE("omig", "omig_calls_read", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS, P_INT_OR("flags", "0") },
	  .result = "time_ns, [name, class, count, delay_ns, in_call, bytes_out, bytes_in]...",
	  .help = "Reads what omig_calls_enable counts, a list for each function that was called. "
		  "flags: bit 0 a list for each class instead, bit 1 also partners: [name, rank, "
		  "count, bytes_out, bytes_in, delay_ns, shared_ns, possible_ns, open_ns, kinds, "
		  "tag]. delay_ns: calls that had this partner only. A call that waits for "
		  "several partners ends with the last of them, and MPI does not report which "
		  "one that was: shared_ns is this one's part, possible_ns the whole time of such "
		  "calls. open_ns: so far, of calls under way. Waits have no count and no bytes. rank is -1 of waits for unknown "
		  "requests, and -3 of waits for collectives. kinds of what was waited for: 1 "
		  "receive, 2 send, 4 collective, 8 one-sided. tag: -1 any or none, -2 several. "
		  "Under the name \"\" count has the calls whose partner found no room." },
	{ EXT_SERVICE("omig", "omig_cert_list", INFO, 0, TOP, ADMIN, DONE),
	  .result = "[serial, role, name, issued, expires, revoked, site, label, token]...",
	  .help = "The certificates that this mainsm has issued. name is what the authority "
		  "vouches for: a daemon's host, or the owner of a tool's token; label is what a "
		  "tool calls itself." },
	{ EXT_SERVICE("omig", "omig_cert_revoke", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("serial_or_name") }, .result = "n",
	  .help = "Revokes certificates, by serial, name or token; their connections are cut." },
	{ EXT_SERVICE("omig", "omig_cert_token", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("role"), P_INT("lifetime_s"), P_INT("uses"), P_STRING_OR_NONE("name"),
		     P_INT_OR("usable_s", "0") },
	  .result = "connection_string",
	  .help = "Makes a token for enrolment with a role, as a connection string. No "
		  "certificate by it lasts longer than lifetime_s; 0: a daemon's is renewed while "
		  "it serves. It may be used for usable_s (0: as long). name: whose a tool is, in "
		  "lists, the audit and what it keeps; \"\" is the token's id." },
	{ EXT_SERVICE("omig", "omig_detach", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .param = { NODES, P_INTS("pids") }, .result = ENTERED,
	  .help = "The opposite of omig_attach: all places lead to the MPI library again. libomig "
		  "stays in memory without being called, since a thread may be inside. The process "
		  "remains known, its calls do not." },
	{ EXT_SERVICE("omig", "omig_dfg_look", INFO, 'n', EACH, OBSERVE, DONE),
	  .param = { NODES, P_INT("measurement") },
	  .result = "[number, kind, in, out, late, doubles, unmatched, incomplete, overflow, open, "
		    "window]..., [way, frames, bytes]...",
	  .help = "How the piece of a measurement's graph runs at each node, and in the sms above "
		  "them: tokens of each node of the graph, what was late, came twice, found no "
		  "partner or no room, and how much it holds; then what has gone up (\"up\") and "
		  "come from each host." },
	{ EXT_SERVICE("omig", "omig_events_keep", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("name"), P_STRINGS("names"), P_STRING("where"),
		     P_INT_OR("seconds", "0"), P_ANYS_OR("options", "[]") },
	  .result = "name, is_new",
	  .help = "A kept subscription of that name: events as thread_writes_events has them, of "
		  "all processes, those that come later too, wait on disk in each host and site "
		  "until the tool has acknowledged them, by messages of their own "
		  "(omis_events_handler of libomis). It continues when the tool is gone, for its "
		  "lease; the next request of the same identity receives it, from what was not "
		  "acknowledged on. options: \"job\", a name: of that job only; \"policy\", what "
		  "is done when its room is used up: \"drop_oldest\", \"drop_newest\" or \"stop\" "
		  "(events are off until there is room); \"lease\" seconds, 300; \"mb\" that it "
		  "may take of each disk, 64." },
	{ EXT_SERVICE("omig", "omig_events_kept", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "[name, receiver, state, unacknowledged, fault]...",
	  .help = "The kept subscriptions of this identity: the receiver of each (the number of a "
		  "tool, 0: none), \"on\" or \"ending\", bytes that it has not acknowledged, and "
		  "what a host said last that cannot keep it." },
	{ EXT_SERVICE("omig", "omig_events_off", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRINGS("names") }, .result = "n",
	  .help = "Disables the conditional requests that wait for events (thread_writes_events) "
		  "by one of these names, just as it stands there; \"all\": by any. With the "
		  "right manipulate those of all tools, else those of the same user or token: an "
		  "error then has the number of others that stay on. n: how many were enabled. Their "
		  "tools get a notification." },
	{ EXT_SERVICE("omig", "omig_events_unkeep", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("name"), P_INT_OR("drain", "0") },
	  .help = "Ends a kept subscription. drain 0: what is stored is thrown away; 1: events "
		  "are off, what is stored still comes, and then the end." },
	{ EXT_SERVICE("omig", "omig_every", INFO, 0, EVENT, OBSERVE, DONE), .param = { P_INT("n") },
	  .help = "A predicate of events: every nth event starts the "
		  "actions behind it, the others end here. In front of all other actions each "
		  "host counts by itself." },
	{ EXT_SERVICE("omig", "omig_function_find", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS, P_STRING("name") }, .result = "more, [name, file, address]...",
	  .help = "The functions of each process that have a name as of omig_function_on: the name "
		  "that means this one alone, the file with its code, and its address "
		  "in the process. more: how many others there are." },
	{ EXT_SERVICE("omig", "omig_function_list", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS }, .result = "[name, address, entry, is_on, tools]...",
	  .help = "The functions of each process that omig_function_on has switched on. is_on is 0 "
		  "while one is being switched on or off; tools: how many tools need it." },
	{ EXT_SERVICE("omig", "omig_function_off", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .param = { PROCS, P_STRING("name") },
	  .help = "This tool needs the function no longer. Without a tool that needs it, its code "
		  "becomes as it was." },
	{ EXT_SERVICE("omig", "omig_function_on", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .param = { PROCS, P_STRING("name") }, .result = "address, entry, copies, clones",
	  .help = "Switches entry and exit of a function on, in processes that run: "
		  "\"function:NAME\" is a region of metrics then. name: of C, of C++ without or "
		  "with its parameters, MODULE::PROCEDURE of Fortran, or the symbol. It is on until "
		  "omig_function_off or the tool's end. entry: \"sled\" where the compiler had "
		  "left room, \"moved\" where instructions were moved. Calls of its inlined copies "
		  "and clones are not seen; copies are known where the file has debug "
		  "information. A function whose code cannot be "
		  "changed safely is refused, with the reason and its place." },
	{ EXT_SERVICE("omig", "omig_history_calls", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("job"), P_INT_OR("from_ns", "0"), P_INT_OR("to_ns", "0") },
	  .result = "from_ns, to_ns, samples, covered_ns, process_s, counted_s, volume_s, ranks, "
		    "nodes, missing, fell, [name, class, count, delay_ns, bytes_out, bytes_in]...",
	  .help = "What the calls of a job have done between two times (ns since 1970; 0: from "
		  "the beginning, until now), by the samples that have a part in it. covered_ns is "
		  "their time without gaps. process_s: seconds of all processes, counted_s and "
		  "volume_s those in which their calls and bytes were counted. missing: answers of "
		  "hosts that are in no sample; fell: samples of which a part may be missing." },
	{ EXT_SERVICE("omig", "omig_history_jobs", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_INT_OR("from_ns", "0"), P_INT_OR("to_ns", "0") },
	  .result = "[job, program, began_ns, first_ns, last_ns, has_ended, exit_status, "
		    "world_size, processes, ranks, nodes, samples]...",
	  .help = "The jobs that the history has between two times, those of earlier starts of "
		  "mainsm too. first_ns and last_ns are of its samples. Without an end nothing is "
		  "known behind last_ns." },
	{ EXT_SERVICE("omig", "omig_history_ranks", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("job"), P_INT_OR("from_ns", "0"), P_INT_OR("at_ns", "0") },
	  .result =
		  "[job, time_ns, span_ns, error, nodes, [class...], [rank, state, counts, cpu, rss, calls_s, "
		  "out_s, in_s, share of each class...]...]...",
	  .help = "The ranks of a job (\"\": of all) at a moment: the sample whose interval has "
		  "it, "
		  "else the last one before, not before from_ns. nodes: \"n1:0-3 n2:4\". Values "
		  "are within error of themselves, nan is not known." },
	{ EXT_SERVICE("omig", "omig_history_samples", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("job"), P_INT_OR("from_ns", "0"), P_INT_OR("to_ns", "0") },
	  .result = "[time_ns, span_ns, processes, alive, ranks, nodes, missing, counted, volumes, "
		    "answered, in_mpi, cpu_ms, rss, rss_max, count, delay_ns, bytes_out, "
		    "bytes_in]...",
	  .help = "The samples of a job between two times; sums over its processes." },
	{ EXT_SERVICE("omig", "omig_if", INFO, 0, EVENT, OBSERVE, DONE),
	  .param = { P_ANY("a"), P_STRING("op"), P_ANY("b") },
	  .help = "A predicate of events: when a op b does not hold, with op one of == != < <= "
		  "> >=, the event ends here and the actions behind it do not run." },
	{ EXT_SERVICE("omig", "omig_launchers", INFO, 'n', NODE, OBSERVE, DONE), .param = { NODES },
	  .result = "[pid, name, address]...",
	  .help = "The launchers of MPI programs of this user, and the addresses at which each "
		  "listens, as HOST:PORT; first each without one. origin of omig_ranks names one "
		  "of them." },
	{ EXT_SERVICE("omig", "omig_metrics_add", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("name"), P_STRING("text") }, .result = "name, version",
	  .help = "Adds a text of the metric language to the monitor, or replaces it by the next "
		  "version. Later texts may use its metrics, and dfg_create takes them by name. It "
		  "is of the tool's user alone, and lasts. What uses it must still compile." },
	{ EXT_SERVICE("omig", "omig_metrics_get", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("name") }, .result = "name, version, text",
	  .help = "An added text, by its name or that of a metric in it." },
	{ EXT_SERVICE("omig", "omig_metrics_list", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "[name, version, added_ns, bytes, [metric...], [used name...]]...",
	  .help = "The texts of metrics that the tool's user has added." },
	{ EXT_SERVICE("omig", "omig_metrics_remove", MANIP, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("name") },
	  .help = "Removes an added text, unless another one uses it. Measurements under way "
		  "continue." },
	{ EXT_SERVICE("omig", "omig_node_sample", INFO, 'n', NODE, OBSERVE, DONE),
	  .param = { NODES },
	  .result = "host, wall_ns, [[name, value]...], left_out, [local, remote, rtt_s, rttvar_s, "
		    "retransmitted, sent, received]...",
	  .help = "Counters of the node, all of one moment by its own clock. Counts since boot: "
		  "cpu.user, cpu.system, cpu.idle, cpu.iowait, cpu.steal (ticks of all "
		  "processors), interrupts, context_switches, disk.read, disk.written, "
		  "net.received, net.sent (bytes), tcp.sent, tcp.retransmitted (segments). The "
		  "state now: load, pressure.cpu, pressure.memory, pressure.io (percent of 10 s), "
		  "memory.available, swap.free (bytes). What is not known is left out. Then the "
		  "established TCP connections of the user, 64 at most: left_out is the number of "
		  "the others, -1 when connections are not known. A connection has its round-trip "
		  "time, the segments that were sent again, and bytes; sent ones are "
		  "acknowledged." },
	{ EXT_SERVICE("omig", "omig_pa_create", MANIP, 'p', NODE, OBSERVE, DONE),
	  .flags = OMIS_INTERNAL, .param = { PROCS, P_TOKEN("object", 'a') },
	  .help = "Makes the cell of a counter or integrator, or the part of a trace buffer, in "
		  "each process." },
	{ EXT_SERVICE("omig", "omig_plugin_add", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .param = { NODES, P_STRING("path") }, .result = "name, [service...]",
	  .help = "Adds a plug-in to the lm of each node: a shared object of the lm's own user, "
		  "which runs in a process of its own (docs/plugins.md). Its services are then "
		  "services of the node, until omig_plugin_remove; also for the next lm." },
	{ EXT_SERVICE("omig", "omig_plugin_info", INFO, 'n', NODE, OBSERVE, DONE),
	  .flags = OMIS_INTERNAL, .param = { NODES, CARRIED }, .result = "those of the service",
	  .help = "Carries a call of a plug-in's service that reads from nodes." },
	{ EXT_SERVICE("omig", "omig_plugin_list", INFO, 'n', NODE, OBSERVE, DONE),
	  .param = { NODES },
	  .result =
		  "[name, path, summary, state, pid, calls, errors, ends, error, [service...]]...",
	  .help = "The plug-ins of a node. state: starting, ready, waiting (its process has ended; "
		  "the next call after a pause starts another one) or failed. calls and errors "
		  "count calls of its services, ends the ends of its process. error is the last "
		  "one." },
	{ EXT_SERVICE("omig", "omig_plugin_manip", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .flags = OMIS_INTERNAL, .param = { NODES, CARRIED }, .result = "those of the service",
	  .help = "Carries a call of a plug-in's service that changes something of nodes." },
	{ EXT_SERVICE("omig", "omig_plugin_proc_info", INFO, 'p', NODE, OBSERVE, DONE),
	  .flags = OMIS_INTERNAL, .param = { PROCS, CARRIED }, .result = "those of the service",
	  .help = "Carries a call of a plug-in's service that reads from processes." },
	{ EXT_SERVICE("omig", "omig_plugin_proc_manip", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .flags = OMIS_INTERNAL, .param = { PROCS, CARRIED }, .result = "those of the service",
	  .help = "Carries a call of a plug-in's service that changes something of processes." },
	{ EXT_SERVICE("omig", "omig_plugin_remove", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .param = { NODES, P_STRING("name") },
	  .help = "Removes a plug-in from the lm of each node, and ends its process." },
	{ EXT_SERVICE("omig", "omig_plugin_services", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "[name, plugin, kind, right, signature, result, help, [node...]]...",
	  .help = "The services that plug-ins have added, and the nodes that have them. "
		  "services(\"plugin\") has their names." },
	{ EXT_SERVICE("omig", "omig_proc_create", MANIP, 'n', NODE, MANIPULATE, DONE),
	  .flags = OMIS_INTERNAL,
	  .param = { NODES, P_STRING("exec"), P_STRINGS("argv"), P_STRINGS("envp"),
		     P_STRINGS("io") },
	  .result = "process", .help = "Starts a program and stops it, for proc_create." },
	{ EXT_SERVICE("omig", "omig_proc_take", MANIP, 'n', NODE, OBSERVE, DONE),
	  .flags = OMIS_INTERNAL, .param = { NODES, P_INT("pid"), P_STRING("exec") },
	  .result = "process",
	  .help = "Makes a process without MPI a watched one, for proc_attach3." },
	{ EXT_SERVICE("omig", "omig_ranks", INFO, 'n', NODE, OBSERVE, DONE), .param = { NODES },
	  .result = "host, [pid, rank, size, job, launcher, program, watched, attached_age, "
		    "process, near, origin]...",
	  .help = "The processes of this user that a launcher of MPI programs has started, by their "
		  "environment. launcher: pid of the topmost one on the host, or 0. watched: 0 not, "
		  "1 from its start, 2 since omig_attach; attached_age: seconds since then, or -1. "
		  "process: its name, the same at each node that sees it (\"\": not known). near: 1 "
		  "if this lm is in its namespaces of pids and host names; the lm at another node "
		  "is nearer if not. origin: where the launcher of the job on another host listens, "
		  "HOST[,HOST]...:PORT, or \"\"." },
	{ EXT_SERVICE("omig", "omig_shutdown", MANIP, 0, TOP, ADMIN, DONE),
	  .help = "Ends all daemons of this mainsm. Programs run on." },
	{ EXT_SERVICE("omig", "omig_source", INFO, 'p', NODE, OBSERVE, PARTLY),
	  .param = { PROCS, P_STRING("file"), P_INTS("addresses") },
	  .result = "[address, [function, source, line]...]...",
	  .help = "The places in the source of addresses where calls return to. They are of a file "
		  "with code of the process, as omig_calls_profile by site has them. First the "
		  "innermost inlined function, last the one that was compiled. function is \"\" "
		  "and line 0 where the file does not say it. An address that no call returns to "
		  "has no place. The file must be the one that the process has loaded. Debug "
		  "information of its own only: separate files are not searched for. At most 128 "
		  "addresses." },
	{ EXT_SERVICE("omig", "omig_status", INFO, 0, EACH, OBSERVE, DONE),
	  .result = "daemon, version, uptime_ns, [name, value]...",
	  .help = "The health of each daemon: queues, drops, lag, certificates." },
	{ EXT_SERVICE("omig", "omig_tree", INFO, 0, TOP, OBSERVE, DONE),
	  .result = "[token, parent, name, state, pid, rank, world_size, job, mpi, exit_status, "
		    "host, state_age_ns]...",
	  .help = "All that the top knows, whatever this tool is attached to." },
};

const struct omis_services omis_services_omig = SERVICES(omig);
