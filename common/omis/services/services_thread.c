/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and their events. */
#include "common/omis/services/services.h"

static const struct omis_service thread[] = {
	{ SERVICE("thread_adds_node", EVENT, 't', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { THREADS }, .ecps = "new_node",
	  .help = "A thread adds $new_node to its virtual machine. Not done: MPI programs have "
		  "none; hosts that come and go are in omig_tree." },
	{ SERVICE("thread_call", MANIP, 't', NODE, MANIPULATE, PARTLY), .flags = OMIS_OPTIONAL,
	  .param = { THREADS, P_INT("addr") },
	  .help = "Lets threads call the function at addr, without arguments, when they continue; "
		  "then they continue where they were, as after a signal handler, with its rules for "
		  "what the function may do. On x86-64, for programs with a C library." },
	{ SERVICE("thread_continue", MANIP, 't', NODE, MANIPULATE, DONE), .param = { THREADS },
	  .help = "Lets the processes of threads run again after thread_stop; running ones stay "
		  "running. Done when they run." },
	{ SERVICE("thread_creates_proc", EVENT, 't', NODE, OBSERVE, DONE), .param = { THREADS },
	  .ecps = "new_proc",
	  .help = "A new process $new_proc has appeared, started by a thread of an observed "
		  "process." },
	{ SERVICE("thread_creates_thread", EVENT, 't', NODE, OBSERVE, DONE), .param = { THREADS },
	  .ecps = "new_thread",
	  .help = "A new thread $new_thread has appeared in the process of an observed thread." },
	{ SERVICE("thread_detach", MANIP, 't', TOP, OBSERVE, DONE),
	  .flags = OMIS_OPTIONAL | OMIS_SCOPE, .param = { THREADS },
	  .help = "Takes threads, say of a library, out of the tool's view. They come back when "
		  "their process is detached and attached again." },
	{ SERVICE("thread_executed_insn", EVENT, 't', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { THREADS },
	  .help = "A thread has executed one instruction. Not done: each would stop the program "
		  "for microseconds instead of a fraction of one nanosecond, so that it would "
		  "stand still to its partners; see thread_reached_addr." },
	{ SERVICE("thread_executed_insn_call", EVENT, 't', NODE, MANIPULATE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { THREADS },
	  .help = "As thread_executed_insn, with a call counted as one instruction. Not done: as "
		  "that one." },
	{ EXT_SERVICE("ocmg", "thread_executes_probe", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_STRING("probe") }, .ecps = "vt par",
	  .help = "A thread comes by a probe of the program (omig probes): $vt and $par1 are its "
		  "virtual time, $par2.. its further arguments." },
	{ SERVICE("thread_get_backtrace", INFO, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT("depth") }, .result = "n, [pc, fp]...",
	  .help = "The stack of a thread, innermost frame first; depth 0 = all of it, 512 frames "
		  "at most. fp is the stack pointer in that frame. The thread is held for a "
		  "fraction of a millisecond, so a call that it waits in may return early, as "
		  "after SIGSTOP and SIGCONT. On x86-64, where ptrace is allowed." },
	{ SERVICE("thread_get_info", INFO, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_FLAGS("flags") },
	  .result = "fields by bits of flags: 0 process; 1 global_id; 2 root_funct; 3 parent; 4 "
		    "message_queue; 5 stack_size; 6 node; 7 local_id; 8 scheduling_state; 9 "
		    "total_time; 10 priority; 11 system_time",
	  .help = "What the thread is and how it does; local_id is its tid. flags 0 lists the "
		  "threads only." },
	{ SERVICE("thread_goto", MANIP, 't', NODE, MANIPULATE, PARTLY), .flags = OMIS_OPTIONAL,
	  .param = { THREADS, P_INT("addr") },
	  .help = "Lets threads continue at addr; a system call that one waits in is not made "
		  "again. On x86-64." },
	{ SERVICE("thread_has_been_continued", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS },
	  .help = "As proc_has_been_continued, for each thread of the process." },
	{ SERVICE("thread_has_been_descheduled", EVENT, 't', NODE, OBSERVE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS },
	  .help = "A thread lost its processor. Takes perf_event_open, with "
		  "kernel.perf_event_paranoid 2 or less." },
	{ SERVICE("thread_has_been_scheduled", EVENT, 't', NODE, OBSERVE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS },
	  .help = "A thread got a processor. As thread_has_been_descheduled." },
	{ SERVICE("thread_has_been_stopped", EVENT, 't', NODE, OBSERVE, DONE), .param = { THREADS },
	  .help = "As proc_has_been_stopped, for each thread of the process." },
	{ SERVICE("thread_has_been_unblocked", EVENT, 't', NODE, OBSERVE, PARTLY),
	  .flags = OMIS_OPTIONAL, .param = { THREADS },
	  .help = "A thread can run again after it was blocked; reported when it gets a "
		  "processor, not when it could have had one. As thread_has_been_descheduled." },
	{ SERVICE("thread_has_blocked", EVENT, 't', NODE, OBSERVE, DONE), .flags = OMIS_OPTIONAL,
	  .param = { THREADS },
	  .help = "A thread gave its processor away because it waits. As "
		  "thread_has_been_descheduled." },
	{ SERVICE("thread_has_ended_lib_call", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_STRING("function") }, .ecps = "par",
	  .help = "A call of a library function by the application has returned: $par0 and $par2 "
		  "the result, $par1 the caller's rank, then partner and length where the call "
		  "has them." },
	{ SERVICE("thread_has_ended_sys_call", EVENT, 't', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS, P_STRING("function") }, .ecps = "par",
	  .help = "A system call has returned: $par1 is its number, $par0 and $par2 the result "
		  "(minus an error number). As thread_has_started_sys_call." },
	{ SERVICE("thread_has_received_tagged_msg", EVENT, 't', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { THREADS, P_INTS("tag_list") },
	  .ecps = "msg sender size monitor_tag",
	  .help = "A thread has received a message that message_tag has marked; [] = with any "
		  "tag. Not done: as message_tag." },
	{ SERVICE("thread_has_started_lib_call", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_STRING("function") }, .ecps = "par",
	  .help = "The application calls a library function: $par1 the caller's rank, from $par2 "
		  "the arguments, then length and partner where the call has them. Calls inside "
		  "the library do not count." },
	{ SERVICE("thread_has_started_sys_call", EVENT, 't', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS, P_STRING("function") }, .ecps = "par",
	  .help = "A thread makes a system call, by name or number, \"\" = any: $par1 is its "
		  "number, $par2 to $par7 its arguments. The process is traced as long as a "
		  "request waits for this, and continues before the report is sent; at more than "
		  "10,000 stops a second it is let go, and the tool is notified that the request "
		  "is suspended there. Takes ptrace." },
	{ SERVICE("thread_has_terminated", EVENT, 't', NODE, OBSERVE, DONE), .param = { THREADS },
	  .help = "A thread has ended." },
	{ SERVICE("thread_reached_addr", EVENT, 't', NODE, MANIPULATE, DONE),
	  .param = { THREADS, P_INT("addr") },
	  .help = "A thread is about to execute the instruction at addr; it is not held. Four "
		  "addresses a thread at most; takes perf_event_open, with "
		  "kernel.perf_event_paranoid 2 or less." },
	{ SERVICE("thread_read_fp_regs", INFO, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT("reg"), P_INT("num") }, .result = "[values]",
	  .help = "Reads floating-point registers by their numbers: 0..7 are st(0)..st(7), 8 + 2 "
		  "k and 9 + 2 k the lower and the upper double of xmmk. On x86-64." },
	{ SERVICE("thread_read_int_regs", INFO, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT("reg"), P_INT("num") }, .result = "[values]",
	  .help = "Reads integer registers by their numbers: 0 r15, 1 r14, 2 r13, 3 r12, 4 rbp, 5 "
		  "rbx, 6 r11, 7 r10, 8 r9, 9 r8, 10 rax, 11 rcx, 12 rdx, 13 rsi, 14 rdi, 15 "
		  "orig_rax, 16 rip, 17 cs, 18 eflags, 19 rsp, 20 ss, 21 fs_base, 22 gs_base, 23 "
		  "ds, 24 es, 25 fs, 26 gs. On x86-64." },
	{ SERVICE("thread_received_signal", EVENT, 't', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS, P_INTS("signal_list") }, .ecps = "sig",
	  .help = "A thread receives a signal $sig, [] = any; SIGKILL is never seen. As "
		  "thread_has_started_sys_call." },
	{ SERVICE("thread_removes_node", EVENT, 't', NODE, OBSERVE, UNSUPPORTED),
	  .flags = OMIS_OPTIONAL, .param = { THREADS }, .ecps = "rem_node",
	  .help = "A thread removes $rem_node from its virtual machine. Not done: as "
		  "thread_adds_node." },
	{ SERVICE("thread_resume", MANIP, 't', NODE, MANIPULATE, DONE), .param = { THREADS },
	  .help = "Takes back one thread_suspend of this tool; without one it does nothing." },
	{ SERVICE("thread_send_signal", MANIP, 't', NODE, MANIPULATE, DONE), .flags = OMIS_OPTIONAL,
	  .param = { THREADS, P_INT("signal") },
	  .help = "Sends a signal to threads. One that stops, and SIGCONT, reach the whole "
		  "process." },
	{ SERVICE("thread_set_priority", MANIP, 't', NODE, MANIPULATE, DONE),
	  .flags = OMIS_OPTIONAL, .param = { THREADS, P_INT("priority") },
	  .help = "As proc_set_priority, for single threads." },
	{ SERVICE("thread_stop", MANIP, 't', NODE, MANIPULATE, DONE), .param = { THREADS },
	  .help = "Stops the processes of threads, visibly for all; stopped ones stay stopped. "
		  "Done when none of their threads runs." },
	{ SERVICE("thread_suspend", MANIP, 't', NODE, MANIPULATE, DONE), .param = { THREADS },
	  .help = "Holds threads, counted for each tool, independent of thread_stop and unseen by "
		  "other tools. The other threads of their processes are held with them." },
	{ SERVICE("thread_write_fp_regs", MANIP, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT("reg"), P_FLOATS("values") },
	  .help = "Writes floating-point registers, numbered as thread_read_fp_regs does. On "
		  "x86-64." },
	{ SERVICE("thread_write_int_regs", MANIP, 't', NODE, MANIPULATE, PARTLY),
	  .param = { THREADS, P_INT("reg"), P_INTS("values") },
	  .help = "Writes integer registers, numbered as thread_read_int_regs does. On x86-64." },
	{ EXT_SERVICE("ocmg", "thread_writes_arcs", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_STRINGS("inherit"), P_STRINGS("states"), P_STRINGS("members"),
		     P_INT_OR("plain", "0") },
	  .ecps = "block",
	  .help = "Threads have written vertices of interactions (omig/interaction.h). Each host "
		  "contracts those that it has: $block is a batch of arcs "
		  "(docs/interactions.md), for trace_buffer_append. It comes a second after the "
		  "last event of an interaction, and says what was lost. inherit: objects that "
		  "new sub-tasks use too. states: NAME=OBJECT+OBJECT. members: OBJECT+OBJECT, "
		  "the set of interactions. Objects that none of these names are left out. "
		  "plain: 1 to get all vertices without contraction." },
	{ EXT_SERVICE("ocmg", "thread_writes_events", EVENT, 't', NODE, OBSERVE, DONE),
	  .param = { THREADS, P_STRINGS("names"), P_STRING("where"), P_INT_OR("seconds", "0"),
		     P_STRING_OR_NONE("kept") },
	  .ecps = "block",
	  .help = "Threads have written events (omig/event.h), made library calls "
		  "(MPI_Send.start, MPI_Send.end) or met probes of these names: a name, a "
		  "beginning of names with a *, or \"all\". where: \"\", or conditions on fields, "
		  "nbytes > 65536 and file == /scratch/*. They are on for this time in seconds; 0: as "
		  "long as the request is enabled. $block has them as a block of an event log "
		  "(docs/eventlog.md), for trace_buffer_append; it comes after a tenth of a "
		  "second, or when it is full, and says what was lost. kept: the name of a "
		  "subscription of omig_events_keep, whose room on disk takes the blocks; the "
		  "actions do not run then." },
};

const struct omis_services omis_services_thread = SERVICES(thread);
