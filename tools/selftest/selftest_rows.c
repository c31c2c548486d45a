/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `omig selftest services`: how each service is tried. */
#include "common/base/str.h"
#include "tools/selftest/selftest.h"

/* A user event as a source of events: nothing but the monitor is needed. */
#define EVENT ":user_event_create()", "?event"
#define RAISE(x) ":user_event_raise([{event}],[" x "],1)"
#define RAISED "user_event_has_been_raised([{event}]): "

#define BARRIER "thread_has_started_lib_call([{proc}],\"MPI_Barrier\"): "
#define BARRIER_END "thread_has_ended_lib_call([{proc}],\"MPI_Barrier\"): "
#define COUNTER(how) ":pa_counter_" how "_create([{proc}])", "?counter"
#define INTEGRATOR(how) ":pa_integrator_" how "_create([{proc}])", "?integrator"
/* {integrator} goes up when a call begins and down when it ends. */
#define INTEGRATE(how)                                                     \
	BARRIER "pa_integrator_" how "_increment({integrator},1.0,$time)", \
		BARRIER_END "pa_integrator_" how "_increment({integrator},-1.0,$time)", "!calls 4"
/* The same for a call of which only the end tells whether it is meant. */
#define POTENTIAL(how)                                                                 \
	"thread_has_started_lib_call([{proc}],\"MPI_Barrier\"): patop_integrator_" how \
	"_increment({integrator},1.0,$time,1)",                                        \
		BARRIER_END "patop_integrator_" how "_increment({integrator},-1.0,$time,0)"
#define BUFFER ":trace_buffer_create([{proc}])", "?buffer"
#define APPEND(x) ":trace_buffer_append({buffer},1.5," x ")"
#define INTEGRATED "[0-9.e-]*[1-9][0-9.e-]*,0\\.0,[0-9.]+\n"
#define IS_GONE "=^error 24 "
#define STOPPED "/status State:.T"
#define RUNS "/status State:.[SR]"
#define CONTINUE ":thread_continue([{proc}])", RUNS

/* {dfg} reads by request how often the scratch process was at a barrier; each value ends with k, n
 * and flags. */
#define DFG ":dfg_create([{proc}],\"\",\"MPI_Barrier_count\",[\"every_ms\",0])", "?dfg"
/* A figure that a process without MPI has, too. */
#define DFG_CPU ":dfg_create([{proc}],\"\",\"CPU_usage\",[\"every_ms\",0])", "?dfg"
#define START ":dfg_start([{dfg}])"
#define READ ":dfg_read([{dfg}])"
#define READ_IS(n) "~\\[\\[\"\",[0-9]+," n "\\.0,0\\.0,[0-9]+,[0-9]+,[0-9]+,1,1,\"\"\\]\\]\n"

/* clang-format off */
const struct selftest_row selftest_rows[] = {
	/* the monitor itself */
	{ "version", NEED_NOTHING, { ":version()", "=^ 2,0,\"[^\"]*\",[0-9]+,[0-9]+\n" } },
	{ "extensions", NEED_NOTHING, { ":extensions()", "=^ [0-9]+,.*\"pa\"" } },
	{ "services", NEED_NOTHING, { ":services(\"\")", "=^ [0-9]+,.*\"proc_get_info\"" } },
	{ "print", NEED_NOTHING, { ":print([7,\"text\",{proc}])", "=^ 3,7,\"text\",{proc}\n" } },
	{ "csr_enable", NEED_NOTHING, { EVENT, RAISED "print([$par1])", ":csr_disable([{csr}]) ; csr_enable([{csr}])",
		"*ENABLED .*DISABLED .*ENABLED ", RAISE("5"), "* 1,5\n" } },
	{ "csr_disable", NEED_NOTHING, { EVENT, RAISED "print([$par1])", ":csr_disable([{csr}])", "*DISABLED ", RAISE("1"),
		":csr_enable([{csr}])", RAISE("2"), "* 1,2\n", "- 1,1\n" } },
	{ "csr_delete", NEED_NOTHING, { EVENT, RAISED "print([$par1])", ":csr_delete([{csr}])", "*DELETED ",
		"^:csr_enable([{csr}])", IS_GONE } },
	{ "user_event_create", NEED_NOTHING, { EVENT, "=e_[^ ]*\n" } },
	{ "user_event_raise", NEED_NOTHING, { EVENT, RAISED "print([$par2,$par1])", RAISE("3,\"x\""), "* 2,\"x\",3\n" } },
	{ "user_event_has_been_raised", NEED_NOTHING, { EVENT, RAISED "print([$csr,$par1])", RAISE("9"), "* 2,{csr},9\n" } },
	{ "user_event_destroy", NEED_NOTHING, { EVENT, ":user_event_destroy([{event}])", "^" RAISE("1"), IS_GONE } },
	{ "omig_if", NEED_NOTHING, { EVENT, RAISED "omig_if($par1,\">\",4) print([$par1])", RAISE("3"), RAISE("5"),
		"* 1,5\n", "- 1,3\n" } },
	{ "omig_every", NEED_NOTHING, { EVENT, RAISED "omig_every(3) print([$par1])", RAISE("1"), RAISE("2"), RAISE("3"),
		"* 1,3\n", "- 1,[12]\n" } },
	{ "omig_at_most", NEED_NOTHING, { EVENT, RAISED "omig_at_most(0.001) print([$par1])", RAISE("1"), "* 1,1\n",
		RAISE("2"), RAISED "print([$par1])", RAISE("3"), "* 1,3\n", "- 1,2\n" } },
	{ "omig_tree", NEED_NOTHING, { ":omig_tree()", "=\\[{proc},{node},.*,{pid},.*\"{job}\"" } },
	{ "omig_status", NEED_NOTHING, { ":omig_status()", "= \"mainsm\",.*{node} \"lm\"," } },
	{ "omig_audit", NEED_NOTHING, { "@t370-audit.sh" } },
	{ "message_queue_get_info", NEED_NOTHING, { "@t362-queue.sh" } },
	{ "omig_cert_token", NEED_OWN_MONITOR, { ":omig_cert_token(\"tool-observe\",600,1)", "?string", "& :version()", "=^2,0," } },
	{ "omig_job_token", NEED_OWN_MONITOR, { ":omig_job_token(\"{job}\")", "=omig1:.*:lm-" } },
	{ "omig_cert_list", NEED_NOTHING, { ":omig_cert_list()", "=\"lm\"" } },
	{ "omig_cert_revoke", NEED_OWN_MONITOR, { ":omig_cert_token(\"tool-observe\",600,1)", "?string", "& :version()",
		":omig_cert_list()", "?serial \"?([^ ,\"[]+)\"?,\"tool-observe\"", ":omig_cert_revoke(\"{serial}\")", "=^ 1\n" } },

	/* sites and nodes */
	{ "site_attach", NEED_NOTHING, { ":site_attach([{site}]) ; site_get_info([{site}],0)", "={site}" } },
	{ "site_detach", NEED_NOTHING, { ":site_detach([{site}])", "^:site_get_info([{site}],0)", IS_GONE } },
	{ "site_get_info", NEED_NOTHING, { ":site_get_info([{site}],2)", "=^{site} [1-9][0-9]*,[1-9]" } },
	{ "node_attach", NEED_NOTHING, { ":node_detach([{node}]) ; node_attach([{node}]) ; node_get_info([{node}],0)", "={node}" } },
	{ "node_attach2", NEED_NOTHING, { ":node_detach([{node}]) ; node_attach2(\"{host}\")", "= {node}\n",
		":node_get_info([{node}],0)", "={node}" } },
	{ "node_detach", NEED_NOTHING, { ":node_detach([{node}])", "^:node_get_info([{node}],1)", IS_GONE,
		"^:proc_get_info([{proc}],1)", IS_GONE } },
	{ "node_get_info", NEED_NOTHING, { ":node_get_info([{node}],3)", "=^{node} \"{host}\",\"Linux\",\"[^\"]*\",\"{release}\"," } },
	{ "node_get_file_listing", NEED_NOTHING, { ":node_get_file_listing([{node}],\"/proc/version\",0,5)", "= \"Linux\"\n" } },

	/* processes */
	{ "proc_attach", NEED_NOTHING, { ":proc_detach([{proc}]) ; proc_attach([{proc}]) ; proc_get_info([{proc}],512)",
		"=^{proc} {pid}\n" } },
	{ "proc_attach3", NEED_NOTHING, { ":proc_detach([{proc}]) ; proc_attach3([{node}],{pid},\"\")", "= {proc}\n" } },
	{ "proc_detach", NEED_NOTHING, { ":proc_detach([{proc}])", "^:proc_get_info([{proc}],512)", IS_GONE } },
	{ "proc_get_info", NEED_NOTHING, { ":proc_get_info([{proc}],518)", "=^{proc} \\[\"{program}\",\"scratch\"\\],{uid},{pid}\n" } },
	{ "proc_get_loader_info", NEED_NOTHING, { ":proc_get_loader_info([{proc}])", "=^{proc} [0-9]+,\\[\"{program}\",.*libomig" } },
	{ "proc_send_signal", NEED_NOTHING, { ":proc_send_signal([{proc}],10)", "<signal 10 " } },
	{ "proc_set_priority", NEED_NOTHING, { ":proc_set_priority([{proc}],{nice})", ":proc_get_info([{proc}],4096)", "= {priority}\n",
		"/task/{tid}/stat ^([^ ]* ){18}{nice} " } },
	{ "proc_read_memory", NEED_PTRACE, { ":proc_read_memory([{proc}],{word},4,8,2)",
		"= \\[115,99,114,97,119,111,114,100\\]\n" } },
	{ "proc_read_memory_bin", NEED_PTRACE, { ":proc_read_memory_bin([{proc}],{word},12,12,1)", "= 12#scratch word\n" } },
	{ "proc_write_memory", NEED_PTRACE, { ":proc_write_memory([{proc}],{word},1,1,[83])",
		":proc_read_memory_bin([{proc}],{word},7,7,1)", "= 7#Scratch\n",
		":proc_write_memory([{proc}],{word},1,1,[115])" } },
	{ "proc_write_memory_bin", NEED_PTRACE, { ":proc_write_memory_bin([{proc}],{word},2,8,4#SCWO)",
		":proc_read_memory_bin([{proc}],{word},12,12,1)", "= 12#SCratch WOrd\n",
		":proc_write_memory_bin([{proc}],{word},12,12,12#scratch word)" } },
	{ "proc_create", NEED_PTRACE, { ":proc_create([{node}],\"{program}\",[\"{program}\",\"created\",\"so\"],[],[\"\",\"{dir}/created\"])",
		"?created", ":proc_get_info([{created}],1024)", "~ 4\n",
		":thread_continue([{created}])", "/../../{dir}/created ^created so\n" } },
	{ "proc_has_been_stopped", NEED_NOTHING, { "proc_has_been_stopped([{proc}]): print([$proc])", ":thread_stop([{proc}])",
		"* 1,{proc}\n", CONTINUE } },
	{ "proc_has_been_continued", NEED_NOTHING, { "proc_has_been_continued([{proc}]): print([$proc])",
		":thread_stop([{proc}])", STOPPED, "- 1,{proc}\n", CONTINUE, "* 1,{proc}\n" } },
	{ "proc_has_been_scheduled", NEED_SWITCHES, { "proc_has_been_scheduled([{proc}]): omig_every(2) print([$proc])",
		"!steps 20", "* 1,{proc}\n" } },
	{ "proc_has_been_descheduled", NEED_SWITCHES, { "proc_has_been_descheduled([{proc}]): omig_every(2) print([$proc])",
		"!steps 20", "* 1,{proc}\n" } },
	{ "proc_has_terminated", NEED_NOTHING, { "!child", ":proc_attach3([{node}],{child},\"\")", "?other",
		"proc_has_terminated([{other}]): print([$proc])", "!unchild", "* 1,{other}\n" } },
	{ "omig_job_attach", NEED_NOTHING, { ":proc_detach([{proc}]) ; omig_job_attach(\"{job}\") ; proc_get_info([{proc}],512)",
		"= [1-9][0-9]*\n{proc} {pid}\n" } },

	/* threads */
	{ "thread_get_info", NEED_NOTHING, { ":thread_get_info([{thread}],193)", "=^{thread} {proc},{node},{tid}\n" } },
	{ "thread_detach", NEED_NOTHING, { ":thread_detach([{thread}])", "^:thread_get_info([{thread}],1)", IS_GONE,
		":proc_detach([{proc}]) ; proc_attach([{proc}]) ; thread_get_info([{thread}],1)", "=^{thread} {proc}\n" } },
	{ "thread_stop", NEED_NOTHING, { ":thread_stop([{thread}])", STOPPED, CONTINUE } },
	{ "thread_continue", NEED_NOTHING, { ":thread_stop([{thread}]) ; thread_continue([{thread}])", RUNS } },
	{ "thread_suspend", NEED_NOTHING, { ":thread_suspend([{thread}])", STOPPED, ":thread_continue([{proc}])", STOPPED,
		":thread_resume([{thread}])", RUNS } },
	{ "thread_resume", NEED_NOTHING, { ":thread_suspend([{thread}]) ; thread_suspend([{thread}]) ; thread_resume([{thread}])",
		STOPPED, ":thread_resume([{thread}])", RUNS } },
	{ "thread_send_signal", NEED_NOTHING, { ":thread_send_signal([{thread}],10)", "<signal 10 {tid}\n" } },
	{ "thread_set_priority", NEED_NOTHING, { ":thread_set_priority([{thread}],{nicer})", "/task/{tid}/stat ^([^ ]* ){18}{nicer} " } },
	{ "thread_get_backtrace", NEED_REGISTERS, { ":thread_get_backtrace([{thread}],0)",
		"=^{thread} [1-9][0-9]*,.*\\[{back},[0-9]+\\]" } },
	{ "omig_backtrace", NEED_REGISTERS, { ":omig_backtrace([{thread}])", "=\"scratch_wait\".*\\[{back},[^]]*\"scratch_thread\"" } },
	{ "thread_read_int_regs", NEED_REGISTERS, { ":thread_read_int_regs([{thread}],0,1)", "= \\[20817\\]\n" } },
	{ "thread_write_int_regs", NEED_REGISTERS, { ":thread_write_int_regs([{thread}],1,[4711])",
		":thread_read_int_regs([{thread}],0,2)", "= \\[20817,4711\\]\n" } },
	{ "thread_write_fp_regs", NEED_REGISTERS, { ":thread_write_fp_regs([{thread}],38,[2.5,-1.25])",
		":thread_read_fp_regs([{thread}],39,1)", "= \\[-1\\.25\\]\n" } },
	{ "thread_read_fp_regs", NEED_REGISTERS, { ":thread_write_fp_regs([{thread}],38,[0.125])",
		":thread_read_fp_regs([{thread}],38,1)", "= \\[0\\.125\\]\n" } },
	{ "thread_call", NEED_REGISTERS, { ":thread_call([{thread}],{called})", "<called by {tid}\n" } },
	{ "thread_goto", NEED_REGISTERS, { ":thread_goto([{thread}],{landing})", "<landed [0-9]", ":omig_backtrace([{thread}])",
		"=\"scratch_wait\"" } },
	{ "thread_has_been_stopped", NEED_NOTHING, { "thread_has_been_stopped([{thread}]): print([$thread])",
		":thread_stop([{proc}])", "* 1,{thread}\n", CONTINUE } },
	{ "thread_has_been_continued", NEED_NOTHING, { "thread_has_been_continued([{thread}]): print([$thread])",
		":thread_stop([{proc}])", STOPPED, CONTINUE, "* 1,{thread}\n" } },
	{ "thread_has_been_scheduled", NEED_SWITCHES, { "thread_has_been_scheduled([{main}]): omig_every(2) print([$thread])",
		"!steps 20", "* 1,{main}\n" } },
	{ "thread_has_been_descheduled", NEED_SWITCHES, { "thread_has_been_descheduled([{main}]): omig_every(2) print([$thread])",
		"!steps 20", "* 1,{main}\n" } },
	{ "thread_has_blocked", NEED_SWITCHES, { "thread_has_blocked([{main}]): omig_every(2) print([$thread])", "!steps 20",
		"* 1,{main}\n" } },
	{ "thread_has_been_unblocked", NEED_SWITCHES, { "thread_has_been_unblocked([{main}]): omig_every(2) print([$thread])",
		"!steps 20", "* 1,{main}\n" } },
	{ "thread_reached_addr", NEED_BREAKPOINTS, { "thread_reached_addr([{main}],{step}): print([$thread])", "!steps 3",
		"*( 1,{main}\n.*){3}" } },
	{ "thread_has_started_sys_call", NEED_PTRACE, { "thread_has_started_sys_call([{proc}],\"getppid\"): print([$thread])",
		"!steps 20", "*( 1,{main}\n.*){3}" } },
	{ "thread_has_ended_sys_call", NEED_PTRACE, { "thread_has_ended_sys_call([{proc}],\"getppid\"): print([$par0])",
		"!steps 20", "*( 1,{parent}\n.*){3}" } },
	{ "thread_received_signal", NEED_PTRACE, { "thread_received_signal([{thread}],[10]): print([$sig,$thread])",
		":thread_send_signal([{thread}],10)", "* 2,10,{thread}\n" } },
	{ "thread_creates_proc", NEED_NOTHING, { "thread_creates_proc([{proc}]): print([$proc,$new_proc])", "!child",
		"* 2,{proc},p_[^\n]*\n", "!unchild" } },
	{ "thread_creates_thread", NEED_NOTHING, { "thread_creates_thread([{proc}]): print([$proc,$new_thread])", "!thread",
		"* 2,{proc},t_[^\n]*\n", "!unthread" } },
	{ "thread_has_terminated", NEED_NOTHING, { "thread_creates_thread([{proc}]): print([$new_thread])",
		"thread_has_terminated([{proc}]): print([$proc,$thread])", "!thread", "* 1,t_", "!unthread",
		"* 2,{proc},t_" } },

	/* probes */
	{ "thread_executes_probe", NEED_NOTHING, { "thread_executes_probe([{proc}],\"scratch_probe\"): print([$thread,$vt,$par2])",
		"!steps 2", "* 3,{main},0,0\\.0\n", "* 3,{main},1,0\\.5\n" } },
	{ "proc_get_probes", NEED_NOTHING, { ":proc_get_probes([{proc}])",
		"=^{proc} 1,\\[\"scratch_probe\",\\[\"int32\",\"float64\"\\]\\]\n" } },

	/* events of the program, its calls and probes */
	{ "proc_get_event_types", NEED_NOTHING, { ":proc_get_event_types([{proc}])", "=^{proc} 0\n" } },
	{ "thread_writes_events", NEED_NOTHING, { BUFFER, "thread_writes_events([{proc}],[\"MPI_Barrier\"],\"\"): "
		"trace_buffer_append({buffer},$time,0,[$block])", "!calls 2", ":trace_buffer_read([{buffer}],0)",
		"~{buffer},0,[1-9][0-9]*,0\n" } },
	{ "omig_events_off", NEED_NOTHING, { ":omig_events_off([\"none such\"])", "= 0\n" } },
	{ "omig_events_keep", NEED_NOTHING, { ":omig_events_keep(\"selftest\",[\"MPI_Barrier\"],\"\",0,[\"mb\",2])",
		"= \"selftest\",1\n", ":omig_events_keep(\"selftest\",[\"MPI_Barrier\"],\"\",0,[\"mb\",2])",
		"= \"selftest\",0\n", ":omig_events_unkeep(\"selftest\")" } },
	{ "omig_events_kept", NEED_NOTHING, { ":omig_events_keep(\"selftest\",[\"all\"],\"\")", ":omig_events_kept()",
		"=\\[\"selftest\",[0-9]+,\"on\",0,\"\"\\]", ":omig_events_unkeep(\"selftest\")" } },
	{ "omig_events_unkeep", NEED_NOTHING, { ":omig_events_keep(\"selftest\",[\"all\"],\"\")",
		":omig_events_unkeep(\"selftest\")", "^:omig_events_unkeep(\"selftest\")", "=^error" } },

	/* library calls: those of the scratch process end in itself */
	{ "thread_has_started_lib_call", NEED_NOTHING, { BARRIER "print([$proc,$thread])", "!calls 3",
		"*( 2,{proc},{main}\n.*){3}" } },
	{ "thread_has_ended_lib_call", NEED_NOTHING, { BARRIER_END "print([$proc,$par0])", "!calls 3", "*( 2,{proc},0\n.*){3}" } },
	{ "patop_lib_call_started", NEED_NOTHING, { "patop_lib_call_started([{proc}],\"MPI_Barrier\",[]): print([$proc])",
		"!calls 2", "*( 1,{proc}\n.*){2}" } },
	{ "patop_lib_call_ended", NEED_NOTHING, { "patop_lib_call_ended([{proc}],\"MPI_Barrier\",[]): print([$proc])",
		"!calls 2", "*( 1,{proc}\n.*){2}" } },
	{ "omig_calls_enable", NEED_NOTHING, { ":omig_calls_enable([{proc}],\"count\")", "!calls 7", ":omig_calls_read([{proc}])",
		"~\"MPI_Barrier\",[^]]*,7," } },
	{ "omig_calls_now", NEED_NOTHING, { "!calls 1", ":omig_calls_now([{proc}])", "=\"MPI_Barrier\",\"barrier\",[0-2]," } },
	{ "omig_calls_read", NEED_NOTHING, { ":omig_calls_enable([{proc}],\"time\")", ":omig_calls_read([{proc}])",
		"=^{proc} [0-9]+", "!calls 1", "~\"MPI_Barrier\",[^]]*,9,[1-9]" } },
	{ "omig_calls_disable", NEED_NOTHING, { ":omig_calls_disable([{proc}])", ":omig_calls_read([{proc}])", "!calls 5",
		":omig_calls_read([{proc}])", "=\"MPI_Barrier\",[^]]*,9," } },
	{ "pa_counter_local_create", NEED_NOTHING, { COUNTER("local"), "= pa_[^ ]*\n", ":pa_counter_read([{counter}])", "={counter},0" } },
	{ "pa_counter_local_increment", NEED_NOTHING, { COUNTER("local"), BARRIER "pa_counter_local_increment({counter},2)",
		"!calls 3", ":pa_counter_read([{counter}])", "~{counter},6\n" } },
	{ "pa_counter_global_create", NEED_NOTHING, { COUNTER("global"), "= pa_[^ ]*\n", ":pa_counter_read([{counter}])", "= 0\n" } },
	{ "pa_counter_global_increment", NEED_NOTHING, { COUNTER("global"), BARRIER "pa_counter_global_increment({counter},3)",
		"!calls 3", ":pa_counter_read([{counter}])", "~ 9\n" } },
	{ "pa_counter_read", NEED_NOTHING, { COUNTER("local"), BARRIER_END "pa_counter_local_increment({counter},1)",
		"!calls 5", ":pa_counter_read([{counter}])", "~^{proc} {counter},5\n" } },
	{ "pa_counter_reset", NEED_NOTHING, { COUNTER("global"), BARRIER "pa_counter_global_increment({counter},1)", "!calls 4",
		":pa_counter_read([{counter}])", "~ 4\n", ":pa_counter_reset([{counter}])", ":pa_counter_read([{counter}])",
		"= 0\n", "!calls 2", ":pa_counter_read([{counter}])", "~ 2\n" } },
	{ "pa_counter_delete", NEED_NOTHING, { COUNTER("local"), ":pa_counter_delete([{counter}])",
		"^:pa_counter_read([{counter}])", IS_GONE } },
	{ "pa_integrator_local_create", NEED_NOTHING, { INTEGRATOR("local"), "= pa_[^ ]*\n", ":pa_integrator_read([{integrator}])",
		"={integrator},0\\.0,0\\.0," } },
	{ "pa_integrator_local_increment", NEED_NOTHING, { INTEGRATOR("local"), INTEGRATE("local"),
		":pa_integrator_read([{integrator}])", "~{integrator}," INTEGRATED } },
	{ "pa_integrator_global_create", NEED_NOTHING, { INTEGRATOR("global"), "= pa_[^ ]*\n", ":pa_integrator_read([{integrator}])",
		"= 0\\.0,0\\.0," } },
	{ "pa_integrator_global_increment", NEED_NOTHING, { INTEGRATOR("global"), INTEGRATE("global"),
		":pa_integrator_read([{integrator}])", "~ " INTEGRATED } },
	{ "pa_integrator_read", NEED_NOTHING, { INTEGRATOR("local"), BARRIER "pa_integrator_local_increment({integrator},2.0,$time)",
		"!calls 1", ":pa_integrator_read([{integrator}])", "~^{proc} {integrator},[0-9.e-]*[1-9][0-9.e-]*,2\\.0," } },
	{ "pa_integrator_reset", NEED_NOTHING, { INTEGRATOR("global"), INTEGRATE("global"), ":pa_integrator_read([{integrator}])",
		"~ " INTEGRATED, ":pa_integrator_reset([{integrator}])", ":pa_integrator_read([{integrator}])", "= 0\\.0,0\\.0," } },
	{ "pa_integrator_delete", NEED_NOTHING, { INTEGRATOR("local"), ":pa_integrator_delete([{integrator}])",
		"^:pa_integrator_read([{integrator}])", IS_GONE } },
	{ "patop_integrator_local_increment", NEED_NOTHING, { INTEGRATOR("local"), POTENTIAL("local"), "!calls 4",
		":pa_integrator_read([{integrator}])", "~{integrator}," INTEGRATED } },
	{ "patop_integrator_global_increment", NEED_NOTHING, { INTEGRATOR("global"), POTENTIAL("global"), "!calls 4",
		":pa_integrator_read([{integrator}])", "~ " INTEGRATED } },
	{ "patop_measurement_counter_read", NEED_NOTHING, { COUNTER("local"), BARRIER "pa_counter_local_increment({counter},2)",
		"!calls 3", ":pa_counter_read([{counter}])", "~,6\n", ":patop_measurement_counter_read([{counter}],1)",
		"=^{proc} {counter},6,[0-9.]+,[0-9.]+\n", "!calls 1", ":pa_counter_read([{counter}])", "~,8\n",
		":patop_measurement_counter_read([{counter}],1)", "={counter},2," } },
	{ "patop_measurement_integrator_read", NEED_NOTHING, { INTEGRATOR("global"), BARRIER
		"pa_integrator_global_increment({integrator},2.0,$time)", "!calls 1", ":pa_integrator_read([{integrator}])",
		"~,2\\.0,[0-9.]+\n", ":patop_measurement_integrator_read([{integrator}],1)", "= [0-9.e-]+,[0-9.]+,[0-9.]+\n",
		":patop_measurement_integrator_read([{integrator}],3)", "= [12]\\.[0-9]" } },
	{ "trace_buffer_create", NEED_NOTHING, { BUFFER, "= trace_b_[^ ]*\n", ":trace_buffer_read([{buffer}])",
		"=^{proc} {buffer},0,0,0\n" } },
	{ "trace_buffer_append", NEED_NOTHING, { BUFFER, BARRIER_END "trace_buffer_append({buffer},$time,3,[$thread,$par0])",
		"!calls 2", ":trace_buffer_read([{buffer}],0)", "~{buffer},0,2,0\n", ":trace_buffer_read([{buffer}])",
		"={buffer},0,0,0(,\\[[0-9.]+,3,\\[{main},0\\]\\]){2}\n" } },
	{ "trace_buffer_read", NEED_NOTHING, { BUFFER, APPEND("1,[]"), APPEND("2,[\"x\"]"), ":trace_buffer_read([{buffer}],1)",
		"=^{proc} {buffer},0,1,0,\\[1\\.5,1,\\[\\]\\]\n", ":trace_buffer_read([{buffer}])",
		"=^{proc} {buffer},1,0,0,\\[1\\.5,2,\\[\"x\"\\]\\]\n" } },
	{ "trace_buffer_delete", NEED_NOTHING, { BUFFER, ":trace_buffer_delete([{buffer}])",
		"^:trace_buffer_read([{buffer}])", IS_GONE } },

	/* measurements */
	{ "dfg_create", NEED_NOTHING, { DFG, "= d_[0-9]+\n", ":dfg_get_info([{dfg}],1)", "=\"MPI_Barrier_count\",\"calls\",\"new\"" } },
	{ "dfg_start", NEED_NOTHING, { DFG, START, "!calls 3", READ, READ_IS("3") } },
	{ "dfg_read", NEED_NOTHING, { DFG, START, "!calls 2", READ, READ_IS("2"), "!calls 2", READ, READ_IS("4") } },
	{ "dfg_has_read", NEED_NOTHING, { DFG, "dfg_has_read([{dfg}]): print([$dfg,$read,$more,$lost,$values])", START, READ,
		"* [0-9]+,{dfg},1,0,0,\\[\"\",1,0\\.0," } },
	{ "dfg_stop", NEED_NOTHING, { DFG, START, ":dfg_stop([{dfg}])", "^" READ, "=does not run" } },
	{ "dfg_add", NEED_NOTHING, { DFG_CPU, ":dfg_add([{dfg}],[{node}])", ":dfg_get_info([{dfg}],2)", "= \\[{node}\\]\n" } },
	{ "dfg_remove", NEED_NOTHING, { DFG_CPU, ":dfg_add([{dfg}],[{node}])", "^:dfg_remove([{dfg}],[{proc}])",
		"=nothing would be left to measure" } },
	{ "dfg_get_info", NEED_NOTHING, { DFG, START, ":dfg_get_info([{dfg}],33)",
		"=\"running\",\"start\",0,0,\"\",0\\],.*\"input\",\"MPI_Barrier_count\",\"{proc}\"" } },
	{ "dfg_list", NEED_NOTHING, { DFG, ":dfg_list()", "=\\[{dfg},[0-9]+,\"[^\"]*\",\"MPI_Barrier_count\"" } },
	{ "dfg_look", NEED_NOTHING, { DFG, ":dfg_look([{dfg}],1)", "=\"MPI_Barrier_count\"" } },
	{ "omig_dfg_look", NEED_NOTHING, { "@t400-measure.sh" } },
	{ "dfg_delete", NEED_NOTHING, { DFG, ":dfg_delete([{dfg}])", "^" READ, IS_GONE } },

	/* asked of an sm that serves many users */
	{ "omig_site_drain", NEED_NOTHING, { "@t360-users.sh" } },
	{ "omig_site_drop", NEED_NOTHING, { "@t360-users.sh" } },
	{ "omig_site_join", NEED_NOTHING, { "@t360-users.sh" } },
	{ "omig_site_limit", NEED_NOTHING, { "@t360-users.sh" } },
	{ "omig_site_status", NEED_NOTHING, { "@t360-users.sh" } },
	{ "omig_site_users", NEED_NOTHING, { "@t360-users.sh" } },

	/* the last of all */
	{ "omig_shutdown", NEED_OWN_MONITOR, { ":omig_shutdown()", "$" } },
	{ .service = NULL },
};
/* clang-format on */

const struct selftest_row *selftest_row_find(const char *service)
{
	for (const struct selftest_row *r = selftest_rows; r->service; r++)
		if (str_eq(r->service, service))
			return r;
	return NULL;
}
