/* SPDX-License-Identifier: Apache-2.0 */
/* Processes. */
#include "common/omis/services/services.h"

static const struct omis_service proc[] = {
	{ SERVICE("proc_attach", MANIP, 'p', TOP, OBSERVE, DONE), .flags = OMIS_RAW | OMIS_SCOPE,
	  .param = { PROCS },
	  .help = "Makes processes visible to this tool. [] takes all processes of the attached "
		  "nodes." },
	{ SERVICE("proc_attach3", MANIP, 'n', TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { NODES, P_INT("pid"), P_STRING("exec") }, .result = "process",
	  .help = "As proc_attach, for the process with this pid on a node, whether it was "
		  "watched before or not; gives its token. exec, unless \"\", must be its "
		  "program." },
	{ SERVICE("proc_checkpoint", MANIP, 'p', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { PROCS, P_STRING("name") },
	  .help = "Writes checkpoints of processes. Not done: what an MPI process is to its "
		  "network and its partners lies outside of it, so that what was written could "
		  "not go on." },
	{ SERVICE("proc_create", MANIP, 'n', TOP, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL | OMIS_SCOPE,
	  .param = { NODES, P_STRING("exec"), P_STRINGS("argv"), P_STRINGS("envp"),
		     P_STRINGS("io") },
	  .result = "process",
	  .help = "Starts a program on nodes, stopped before its first instruction and attached; "
		  "thread_continue lets it go. argv begins with the program's own name, [] is "
		  "exec alone; envp [] is that of the lm; io names a file a stream: 0 is read, 1 "
		  "and 2 are appended to, others both; \"\" is /dev/null. It begins in the home "
		  "directory, lives on when tools and daemons end, and like all that is stopped "
		  "it runs when the tool that made it is gone." },
	{ SERVICE("proc_detach", MANIP, 'p', TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { PROCS }, .help = "Takes processes out of the tool's view." },
	{ EXT_SERVICE("ocmg", "proc_get_event_types", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS }, .result = "n, [name, level, [field, kind, ...], on, taken, lost]...",
	  .help = "The types of events that a process has (omig/event.h): on counts the requests "
		  "that ask for one (thread_writes_events), taken the events that have come from "
		  "it, lost those that found no room in its rings." },
	{ SERVICE("proc_get_info", INFO, 'p', NODE, OBSERVE, DONE),
	  .guarded = 1 << 1 | 1 << 4 | 1 << 5, .param = { PROCS, P_FLAGS("flags") },
	  .result =
		  "fields by bits of flags: 0 global_id; 1 [argv]; 2 uid; 3 gid; 4 "
		  "[user_argv]; 5 [envp]; 6 parent; 7 message_queue; 8 node; 9 local_id; 10 "
		  "scheduling_state; 11 total_time; 12 priority; 13 system_time; 14 "
		  "memory_size; 15 resident_size; 16 max_resident_size; 17 int_resident_size; "
		  "18 min_flt; 19 maj_flt; 20 swaps; 21 file_input; 22 file_output; 23 "
		  "vol_cont_switch; 24 invol_cont_switch; 25 program; 26 age; 27 ended_age; 28 job; "
		  "29 parent_id; 30 attached_age",
	  .help = "What the process is and how it does: global_id is its rank, local_id its pid, "
		  "parent_id the pid of what started it; "
		  "times in seconds, sizes in bytes; age counts from its start, ended_age from its "
		  "end (-1: it lives), attached_age from omig_attach (-1: it was watched from its "
		  "start; what it did before is unknown); state 0 running, 1 blocked, 2 ready, 3 "
		  "zombie, 4 stopped. flags 0 lists the processes only. Arguments and environment "
		  "(1, 4, 5) may hold secrets and need the right manipulate, as memory does; "
		  "program, the name of what runs, does not. The secret of a connection string is "
		  "not shown." },
	{ SERVICE("proc_get_loader_info", INFO, 'p', NODE, OBSERVE, DONE), .param = { PROCS },
	  .result = "n, [path, member, code_start, code_len, data_start, data_len, bss_start, "
		    "bss_len]",
	  .help = "The files that a process has loaded code from, the program first; member is "
		  "always \"\". Those of another word size are given in whole pages." },
	{ EXT_SERVICE("ocmg", "proc_get_probes", INFO, 'p', NODE, OBSERVE, DONE),
	  .param = { PROCS }, .result = "n, [name, [type, ...]]",
	  .help = "The probes of a process, as thread_executes_probe knows them, with the types "
		  "of their parameters, the virtual time first." },
	{ SERVICE("proc_has_been_continued", EVENT, 'p', NODE, OBSERVE, DONE), .param = { PROCS },
	  .help = "The monitor has continued a stopped process: a tool requested it, or left." },
	{ SERVICE("proc_has_been_descheduled", EVENT, 'p', NODE, OBSERVE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { PROCS },
	  .help = "A thread of a process lost its processor: $thread. Takes perf_event_open, with "
		  "kernel.perf_event_paranoid 2 or less." },
	{ SERVICE("proc_has_been_migrated", EVENT, 'p', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { PROCS },
	  .help = "A process has arrived on another node. Not done: as proc_migrate." },
	{ SERVICE("proc_has_been_scheduled", EVENT, 'p', NODE, OBSERVE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { PROCS },
	  .help = "A thread of a process got a processor: $thread. As proc_has_been_descheduled." },
	{ SERVICE("proc_has_been_stopped", EVENT, 'p', NODE, OBSERVE, DONE), .param = { PROCS },
	  .help = "A tool stopped a process that ran. Suspending is not reported." },
	{ SERVICE("proc_has_terminated", EVENT, 'p', NODE, OBSERVE, DONE), .param = { PROCS },
	  .help = "A process has ended, in whatever way. Its last values stay readable." },
	{ SERVICE("proc_migrate", MANIP, 'p', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { PROCS, P_TOKEN("node", 'n') },
	  .help = "Moves processes to a node. Not done: Linux moves none between hosts." },
	{ SERVICE("proc_read_memory", INFO, 'p', NODE, MANIPULATE, DONE),
	  .param = { PROCS, P_INT("addr"), P_INT("blocklength"), P_INT("stride"), P_INT("count") },
	  .result = "[bytes]",
	  .help = "Reads count blocks of memory, stride (at least blocklength) bytes apart; "
		  "65,536 bytes and 4,096 blocks at most. OS_ERROR names the address that is not "
		  "there." },
	{ SERVICE("proc_read_memory_bin", INFO, 'p', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL,
	  .param = { PROCS, P_INT("addr"), P_INT("blocklength"), P_INT("stride"), P_INT("count") },
	  .result = "bytes", .help = "As proc_read_memory, with a binary value as result." },
	{ SERVICE("proc_restore", MANIP, 0, TOP, MANIPULATE, UNSUPPORTED), .flags = OMIS_OPTIONAL,
	  .param = { P_STRING("name") }, .result = "[processes], n",
	  .help = "Starts processes from a checkpoint; they are attached. Not done: as "
		  "proc_checkpoint." },
	{ SERVICE("proc_send_signal", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .param = { PROCS, P_INT("signal") },
	  .help = "Sends a signal to processes. Done when it is taken, or has ended them." },
	{ SERVICE("proc_set_priority", MANIP, 'p', NODE, MANIPULATE, DONE), .flags = OMIS_OPTIONAL,
	  .param = { PROCS, P_INT("priority") },
	  .help = "Sets the nice value of all threads of processes, -20 (first) to 19 (last); "
		  "proc_get_info returns it plus 20. Lowering it takes a right of the lm's "
		  "user." },
	{ SERVICE("proc_will_be_migrated", EVENT, 'p', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { PROCS }, .ecps = "dest_node",
	  .help = "A process is about to move to $dest_node. Not done: as proc_migrate." },
	{ SERVICE("proc_write_memory", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .param = { PROCS, P_INT("addr"), P_INT("blocklength"), P_INT("stride"), P_INTS("bytes") },
	  .help = "Writes blocks of memory, stride (at least blocklength) bytes apart, also where "
		  "the program itself may only read. All of it must be there, else nothing is "
		  "written." },
	{ SERVICE("proc_write_memory_bin", MANIP, 'p', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL,
	  .param = { PROCS, P_INT("addr"), P_INT("blocklength"), P_INT("stride"),
		     P_BINARY("bytes") },
	  .help = "As proc_write_memory, with a binary value." },
};

const struct omis_services omis_services_proc = SERVICES(proc);
