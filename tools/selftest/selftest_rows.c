/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `omig selftest services`: the test of each service. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/selftest/selftest.h"

/* clang-format off */
/* Steps, as enum selftest_step_kind has them. */
#define REQUEST(text) { STEP_REQUEST, text }
#define TRY(text) { STEP_TRY, text }
#define OTHER_TOOL(text) { STEP_OTHER_TOOL, text }
#define CSR(text) { STEP_CSR, text }
#define SAVE(name) { STEP_SAVE, name }
#define MATCH(pattern) { STEP_MATCH, pattern }
#define AWAIT(pattern) { STEP_AWAIT, pattern }
#define COMMAND(words) { STEP_COMMAND, words }
#define OUTPUT(pattern) { STEP_OUTPUT, pattern }
#define PROC_FILE(file_pattern) { STEP_PROC_FILE, file_pattern }
#define NOTIFIED(pattern) { STEP_NOTIFIED, pattern }
#define NOT_NOTIFIED(pattern) { STEP_NOT_NOTIFIED, pattern }
#define ELSEWHERE(script) { STEP_ELSEWHERE, script }
#define QUIET { STEP_QUIET, "" }

#define METRIC_TEXT "Selftest_metric(Process p) { RETURN Time(NOW); }"

/* A user event as a source of events: nothing but the monitor is needed. */
#define EVENT REQUEST(":user_event_create()"), SAVE("event")
#define RAISE(x) ":user_event_raise([{event}],[" x "],1)"
#define RAISED "user_event_has_been_raised([{event}]): "

#define BARRIER "thread_has_started_lib_call([{proc}],\"MPI_Barrier\"): "
#define BARRIER_END "thread_has_ended_lib_call([{proc}],\"MPI_Barrier\"): "
#define COUNTER(how) REQUEST(":pa_counter_" how "_create([{proc}])"), SAVE("counter")
#define INTEGRATOR(how) REQUEST(":pa_integrator_" how "_create([{proc}])"), SAVE("integrator")
/* {integrator} increases when a call begins and decreases when it ends. */
#define INTEGRATE(how)                                                            \
	CSR(BARRIER "pa_integrator_" how "_increment({integrator},1.0,$time)"),        \
	CSR(BARRIER_END "pa_integrator_" how "_increment({integrator},-1.0,$time)"),   \
	COMMAND("calls 4")
/*
 * The same for a call of which only the end shows whether it is selected. The lm adds these up from
 * events: $time is a double of seconds since 1970, 0.24 us apart, and a barrier of one process may
 * be shorter. Of 400 calls some begin and end at different times.
 */
#define POTENTIAL(how)                                                                    \
	CSR("thread_has_started_lib_call([{proc}],\"MPI_Barrier\"): patop_integrator_" how \
	    "_increment({integrator},1.0,$time,1)"),                                         \
	CSR(BARRIER_END "patop_integrator_" how "_increment({integrator},-1.0,$time,0)")
#define BUFFER REQUEST(":trace_buffer_create([{proc}])"), SAVE("buffer")
#define APPEND(x) ":trace_buffer_append({buffer},1.5," x ")"
#define INTEGRATED "[0-9.e-]*[1-9][0-9.e-]*,0\\.0,[0-9.]+\n"
#define IS_GONE MATCH("^error 24 ")
#define STOPPED PROC_FILE("status State:.T")
#define RUNS PROC_FILE("status State:.[SR]")
#define CONTINUE REQUEST(":thread_continue([{proc}])"), RUNS

/* {dfg} counts the barriers of the scratch process; each value ends with k, n and flags. */
#define DFG \
	REQUEST(":dfg_create([{proc}],\"\",\"MPI_Barrier_count\",[\"every_ms\",0])"), SAVE("dfg")
/* A metric that a process without MPI has, too. */
#define DFG_CPU REQUEST(":dfg_create([{proc}],\"\",\"CPU_usage\",[\"every_ms\",0])"), SAVE("dfg")
#define START ":dfg_start([{dfg}])"
#define READ ":dfg_read([{dfg}])"
#define READ_IS(n) \
	AWAIT("\\[\\[\"\",[0-9]+," n "\\.0,0\\.0,[0-9]+,[0-9]+,[0-9]+,1,1,\"\"\\]\\]\n")

const struct selftest_row selftest_rows[] = {
	/* the monitor itself */
	{ "version", NEED_NOTHING,
	  { REQUEST(":version()"), MATCH("^ 2,0,\"[^\"]*\",[0-9]+,[0-9]+\n") } },
	{ "extensions", NEED_NOTHING, { REQUEST(":extensions()"), MATCH("^ [0-9]+,.*\"pa\"") } },
	{ "services", NEED_NOTHING,
	  { REQUEST(":services(\"\")"), MATCH("^ [0-9]+,.*\"proc_get_info\"") } },
	{ "print", NEED_NOTHING,
	  { REQUEST(":print([7,\"text\",{proc}])"), MATCH("^ 3,7,\"text\",{proc}\n") } },
	{ "csr_enable", NEED_NOTHING,
	  { EVENT, CSR(RAISED "print([$par1])"),
	    REQUEST(":csr_disable([{csr}]) ; csr_enable([{csr}])"),
	    NOTIFIED("ENABLED .*DISABLED .*ENABLED "), REQUEST(RAISE("5")),
	    NOTIFIED(" 1,5\n") } },
	{ "csr_disable", NEED_NOTHING,
	  { EVENT, CSR(RAISED "print([$par1])"), REQUEST(":csr_disable([{csr}])"),
	    NOTIFIED("DISABLED "), REQUEST(RAISE("1")), REQUEST(":csr_enable([{csr}])"),
	    REQUEST(RAISE("2")), NOTIFIED(" 1,2\n"), NOT_NOTIFIED(" 1,1\n") } },
	{ "csr_delete", NEED_NOTHING,
	  { EVENT, CSR(RAISED "print([$par1])"), REQUEST(":csr_delete([{csr}])"),
	    NOTIFIED("DELETED "), TRY(":csr_enable([{csr}])"), IS_GONE } },
	{ "user_event_create", NEED_NOTHING, { EVENT, MATCH("e_[^ ]*\n") } },
	{ "user_event_raise", NEED_NOTHING,
	  { EVENT, CSR(RAISED "print([$par2,$par1])"), REQUEST(RAISE("3,\"x\"")),
	    NOTIFIED(" 2,\"x\",3\n") } },
	{ "user_event_has_been_raised", NEED_NOTHING,
	  { EVENT, CSR(RAISED "print([$csr,$par1])"), REQUEST(RAISE("9")),
	    NOTIFIED(" 2,{csr},9\n") } },
	{ "user_event_destroy", NEED_NOTHING,
	  { EVENT, REQUEST(":user_event_destroy([{event}])"), TRY(RAISE("1")), IS_GONE } },
	{ "omig_if", NEED_NOTHING,
	  { EVENT, CSR(RAISED "omig_if($par1,\">\",4) print([$par1])"), REQUEST(RAISE("3")),
	    REQUEST(RAISE("5")), NOTIFIED(" 1,5\n"), NOT_NOTIFIED(" 1,3\n") } },
	{ "omig_every", NEED_NOTHING,
	  { EVENT, CSR(RAISED "omig_every(3) print([$par1])"), REQUEST(RAISE("1")),
	    REQUEST(RAISE("2")), REQUEST(RAISE("3")), NOTIFIED(" 1,3\n"),
	    NOT_NOTIFIED(" 1,[12]\n") } },
	{ "omig_at_most", NEED_NOTHING,
	  { EVENT, CSR(RAISED "omig_at_most(0.001) print([$par1])"), REQUEST(RAISE("1")),
	    NOTIFIED(" 1,1\n"), REQUEST(RAISE("2")), CSR(RAISED "print([$par1])"),
	    REQUEST(RAISE("3")), NOTIFIED(" 1,3\n"), NOT_NOTIFIED(" 1,2\n") } },
	{ "omig_tree", NEED_NOTHING,
	  { REQUEST(":omig_tree()"), MATCH("\\[{proc},{node},.*,{pid},.*\"{job}\"") } },
	{ "omig_status", NEED_NOTHING,
	  { REQUEST(":omig_status()"), MATCH(" \"mainsm\",.*{node} \"lm\",") } },
	{ "omig_audit", NEED_NOTHING, { ELSEWHERE("security/audit.sh") } },
	{ "message_queue_get_info", NEED_NOTHING, { ELSEWHERE("requests/message-queue.sh") } },
	{ "omig_cert_token", NEED_OWN_MONITOR,
	  { REQUEST(":omig_cert_token(\"tool-observe\",600,1)"), SAVE("string"),
	    OTHER_TOOL(":version()"), MATCH("^2,0,") } },
	{ "omig_job_token", NEED_OWN_MONITOR,
	  { REQUEST(":omig_job_token(\"{job}\")"), MATCH("omig1:.*:lm-") } },
	{ "omig_cert_list", NEED_NOTHING, { REQUEST(":omig_cert_list()"), MATCH("\"lm\"") } },
	{ "omig_cert_revoke", NEED_OWN_MONITOR,
	  { REQUEST(":omig_cert_token(\"tool-observe\",600,1)"), SAVE("string"),
	    OTHER_TOOL(":version()"), REQUEST(":omig_cert_list()"),
	    SAVE("serial \"?([^ ,\"[]+)\"?,\"tool-observe\""),
	    REQUEST(":omig_cert_revoke(\"{serial}\")"), MATCH("^ 1\n") } },

	/* sites and nodes */
	{ "site_attach", NEED_NOTHING,
	  { REQUEST(":site_attach([{site}]) ; site_get_info([{site}],0)"), MATCH("{site}") } },
	{ "site_detach", NEED_NOTHING,
	  { REQUEST(":site_detach([{site}])"), TRY(":site_get_info([{site}],0)"), IS_GONE } },
	{ "site_get_info", NEED_NOTHING,
	  { REQUEST(":site_get_info([{site}],2)"), MATCH("^{site} [1-9][0-9]*,[1-9]") } },
	{ "node_attach", NEED_NOTHING,
	  { REQUEST(":node_detach([{node}]) ; node_attach([{node}]) ; node_get_info([{node}],0)"),
	    MATCH("{node}") } },
	{ "node_attach2", NEED_NOTHING,
	  { REQUEST(":node_detach([{node}]) ; node_attach2(\"{host}\")"), MATCH(" {node}\n"),
	    REQUEST(":node_get_info([{node}],0)"), MATCH("{node}") } },
	{ "node_detach", NEED_NOTHING,
	  { REQUEST(":node_detach([{node}])"), TRY(":node_get_info([{node}],1)"), IS_GONE,
	    TRY(":proc_get_info([{proc}],1)"), IS_GONE } },
	{ "node_get_info", NEED_NOTHING,
	  { REQUEST(":node_get_info([{node}],3)"),
	    MATCH("^{node} \"{host}\",\"Linux\",\"[^\"]*\",\"{release}\",") } },
	{ "omig_node_sample", NEED_NOTHING,
	  { REQUEST(":omig_node_sample([{node}])"),
	    MATCH("^{node} \"{host}\",[0-9]+,\\[\\[\"cpu.user\",[0-9.e+]+\\]") } },
	{ "node_get_file_listing", NEED_NOTHING,
	  { REQUEST(":node_get_file_listing([{node}],\"/proc/version\",0,5)"),
	    MATCH(" \"Linux\"\n") } },

	/* processes */
	{ "proc_attach", NEED_NOTHING,
	  { REQUEST(":proc_detach([{proc}]) ; proc_attach([{proc}]) ; proc_get_info([{proc}],512)"),
	    MATCH("^{proc} {pid}\n") } },
	{ "proc_attach3", NEED_NOTHING,
	  { REQUEST(":proc_detach([{proc}]) ; proc_attach3([{node}],{pid},\"\")"),
	    MATCH(" {proc}\n") } },
	{ "proc_detach", NEED_NOTHING,
	  { REQUEST(":proc_detach([{proc}])"), TRY(":proc_get_info([{proc}],512)"), IS_GONE } },
	{ "proc_get_info", NEED_NOTHING,
	  { REQUEST(":proc_get_info([{proc}],518)"),
	    MATCH("^{proc} \\[\"{program}\",\"scratch\"\\],{uid},{pid}\n") } },
	{ "proc_get_loader_info", NEED_NOTHING,
	  { REQUEST(":proc_get_loader_info([{proc}])"),
	    MATCH("^{proc} [0-9]+,\\[\"{program}\",.*libomig") } },
	{ "proc_send_signal", NEED_NOTHING,
	  { REQUEST(":proc_send_signal([{proc}],10)"), OUTPUT("signal 10 ") } },
	{ "proc_set_priority", NEED_NOTHING,
	  { REQUEST(":proc_set_priority([{proc}],{nice})"),
	    REQUEST(":proc_get_info([{proc}],4096)"), MATCH(" {priority}\n"),
	    PROC_FILE("task/{tid}/stat ^([^ ]* ){18}{nice} ") } },
	{ "proc_read_memory", NEED_PTRACE,
	  { REQUEST(":proc_read_memory([{proc}],{word},4,8,2)"),
	    MATCH(" \\[115,99,114,97,119,111,114,100\\]\n") } },
	{ "proc_read_memory_bin", NEED_PTRACE,
	  { REQUEST(":proc_read_memory_bin([{proc}],{word},12,12,1)"),
	    MATCH(" 12#scratch word\n") } },
	{ "proc_write_memory", NEED_PTRACE,
	  { REQUEST(":proc_write_memory([{proc}],{word},1,1,[83])"),
	    REQUEST(":proc_read_memory_bin([{proc}],{word},7,7,1)"), MATCH(" 7#Scratch\n"),
	    REQUEST(":proc_write_memory([{proc}],{word},1,1,[115])") } },
	{ "proc_write_memory_bin", NEED_PTRACE,
	  { REQUEST(":proc_write_memory_bin([{proc}],{word},2,8,4#SCWO)"),
	    REQUEST(":proc_read_memory_bin([{proc}],{word},12,12,1)"),
	    MATCH(" 12#SCratch WOrd\n"),
	    REQUEST(":proc_write_memory_bin([{proc}],{word},12,12,12#scratch word)") } },
	{ "proc_create", NEED_PTRACE,
	  { REQUEST(":proc_create([{node}],\"{program}\",[\"{program}\",\"created\",\"so\"],[],"
		    "[\"\",\"{dir}/created\"])"),
	    SAVE("created"), REQUEST(":proc_get_info([{created}],1024)"), AWAIT(" 4\n"),
	    REQUEST(":thread_continue([{created}])"),
	    PROC_FILE("../../{dir}/created ^created so\n") } },
	{ "proc_has_been_stopped", NEED_NOTHING,
	  { CSR("proc_has_been_stopped([{proc}]): print([$proc])"),
	    REQUEST(":thread_stop([{proc}])"), NOTIFIED(" 1,{proc}\n"), CONTINUE } },
	{ "proc_has_been_continued", NEED_NOTHING,
	  { CSR("proc_has_been_continued([{proc}]): print([$proc])"),
	    REQUEST(":thread_stop([{proc}])"), STOPPED, NOT_NOTIFIED(" 1,{proc}\n"), CONTINUE,
	    NOTIFIED(" 1,{proc}\n") } },
	{ "proc_has_been_scheduled", NEED_SWITCHES,
	  { CSR("proc_has_been_scheduled([{proc}]): omig_every(2) print([$proc])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{proc}\n") } },
	{ "proc_has_been_descheduled", NEED_SWITCHES,
	  { CSR("proc_has_been_descheduled([{proc}]): omig_every(2) print([$proc])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{proc}\n") } },
	{ "proc_has_terminated", NEED_NOTHING,
	  { COMMAND("child"), REQUEST(":proc_attach3([{node}],{child},\"\")"), SAVE("other"),
	    CSR("proc_has_terminated([{other}]): print([$proc])"), COMMAND("unchild"),
	    NOTIFIED(" 1,{other}\n") } },
	{ "omig_job_attach", NEED_NOTHING,
	  { REQUEST(":proc_detach([{proc}]) ; omig_job_attach(\"{job}\") ; "
		    "proc_get_info([{proc}],512)"),
	    MATCH(" [1-9][0-9]*\n{proc} {pid}\n") } },

	{ "omig_job_find", NEED_NOTHING,
	  { REQUEST(":omig_job_find(\"{job}\")"), MATCH("^ \"{job}\"\n") } },

	{ "omig_job_sample", NEED_NOTHING,
	  { COMMAND("calls 1"), REQUEST(":omig_job_sample([{node}],[\"{job}\"])"),
	    MATCH("{node} [0-9]+,\"{job}\",\"omig-scratch\",") } },
	{ "omig_history_jobs", NEED_NOTHING,
	  { REQUEST(":omig_history_jobs()"), AWAIT("\\[\"{job}\",") } },
	{ "omig_history_calls", NEED_NOTHING,
	  { REQUEST(":omig_history_calls(\"{job}\")"), AWAIT("^ [0-9]+,[0-9]+,[1-9]") } },
	{ "omig_history_ranks", NEED_NOTHING, { ELSEWHERE("measure/history.sh") } },
	{ "omig_history_samples", NEED_NOTHING,
	  { REQUEST(":omig_history_samples(\"{job}\")"), AWAIT("\\[[0-9]+,[0-9]+,[1-9]") } },

	/* threads */
	{ "thread_get_info", NEED_NOTHING,
	  { REQUEST(":thread_get_info([{thread}],193)"),
	    MATCH("^{thread} {proc},{node},{tid}\n") } },
	{ "thread_detach", NEED_NOTHING,
	  { REQUEST(":thread_detach([{thread}])"), TRY(":thread_get_info([{thread}],1)"), IS_GONE,
	    REQUEST(":proc_detach([{proc}]) ; proc_attach([{proc}]) ; "
		    "thread_get_info([{thread}],1)"),
	    MATCH("^{thread} {proc}\n") } },
	{ "thread_stop", NEED_NOTHING,
	  { REQUEST(":thread_stop([{thread}])"), STOPPED, CONTINUE } },
	{ "thread_continue", NEED_NOTHING,
	  { REQUEST(":thread_stop([{thread}]) ; thread_continue([{thread}])"), RUNS } },
	{ "thread_suspend", NEED_NOTHING,
	  { REQUEST(":thread_suspend([{thread}])"), STOPPED,
	    REQUEST(":thread_continue([{proc}])"), STOPPED, REQUEST(":thread_resume([{thread}])"),
	    RUNS } },
	{ "thread_resume", NEED_NOTHING,
	  { REQUEST(":thread_suspend([{thread}]) ; thread_suspend([{thread}]) ; "
		    "thread_resume([{thread}])"),
	    STOPPED, REQUEST(":thread_resume([{thread}])"), RUNS } },
	{ "thread_send_signal", NEED_NOTHING,
	  { REQUEST(":thread_send_signal([{thread}],10)"), OUTPUT("signal 10 {tid}\n") } },
	{ "thread_set_priority", NEED_NOTHING,
	  { REQUEST(":thread_set_priority([{thread}],{nicer})"),
	    PROC_FILE("task/{tid}/stat ^([^ ]* ){18}{nicer} ") } },
	{ "thread_get_backtrace", NEED_REGISTERS,
	  { REQUEST(":thread_get_backtrace([{thread}],0)"),
	    MATCH("^{thread} [1-9][0-9]*,.*\\[{back},[0-9]+\\]") } },
	{ "omig_backtrace", NEED_REGISTERS,
	  { REQUEST(":omig_backtrace([{thread}])"),
	    MATCH("\"scratch_wait\".*\\[{back},[^]]*\"scratch_thread\"") } },
	{ "thread_read_int_regs", NEED_REGISTERS,
	  { REQUEST(":thread_read_int_regs([{thread}],0,1)"), MATCH(" \\[20817\\]\n") } },
	{ "thread_write_int_regs", NEED_REGISTERS,
	  { REQUEST(":thread_write_int_regs([{thread}],1,[4711])"),
	    REQUEST(":thread_read_int_regs([{thread}],0,2)"), MATCH(" \\[20817,4711\\]\n") } },
	{ "thread_write_fp_regs", NEED_REGISTERS,
	  { REQUEST(":thread_write_fp_regs([{thread}],38,[2.5,-1.25])"),
	    REQUEST(":thread_read_fp_regs([{thread}],39,1)"), MATCH(" \\[-1\\.25\\]\n") } },
	{ "thread_read_fp_regs", NEED_REGISTERS,
	  { REQUEST(":thread_write_fp_regs([{thread}],38,[0.125])"),
	    REQUEST(":thread_read_fp_regs([{thread}],38,1)"), MATCH(" \\[0\\.125\\]\n") } },
	{ "thread_call", NEED_REGISTERS,
	  { REQUEST(":thread_call([{thread}],{called})"), OUTPUT("called by {tid}\n") } },
	{ "thread_goto", NEED_REGISTERS,
	  { REQUEST(":thread_goto([{thread}],{landing})"), OUTPUT("landed [0-9]"),
	    REQUEST(":omig_backtrace([{thread}])"), MATCH("\"scratch_wait\"") } },
	{ "thread_has_been_stopped", NEED_NOTHING,
	  { CSR("thread_has_been_stopped([{thread}]): print([$thread])"),
	    REQUEST(":thread_stop([{proc}])"), NOTIFIED(" 1,{thread}\n"), CONTINUE } },
	{ "thread_has_been_continued", NEED_NOTHING,
	  { CSR("thread_has_been_continued([{thread}]): print([$thread])"),
	    REQUEST(":thread_stop([{proc}])"), STOPPED, CONTINUE, NOTIFIED(" 1,{thread}\n") } },
	{ "thread_has_been_scheduled", NEED_SWITCHES,
	  { CSR("thread_has_been_scheduled([{main}]): omig_every(2) print([$thread])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{main}\n") } },
	{ "thread_has_been_descheduled", NEED_SWITCHES,
	  { CSR("thread_has_been_descheduled([{main}]): omig_every(2) print([$thread])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{main}\n") } },
	{ "thread_has_blocked", NEED_SWITCHES,
	  { CSR("thread_has_blocked([{main}]): omig_every(2) print([$thread])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{main}\n") } },
	{ "thread_has_been_unblocked", NEED_SWITCHES,
	  { CSR("thread_has_been_unblocked([{main}]): omig_every(2) print([$thread])"),
	    COMMAND("steps 20"), NOTIFIED(" 1,{main}\n") } },
	{ "thread_reached_addr", NEED_BREAKPOINTS,
	  { CSR("thread_reached_addr([{main}],{step}): print([$thread])"), COMMAND("steps 3"),
	    NOTIFIED("( 1,{main}\n.*){3}") } },
	{ "thread_has_started_sys_call", NEED_PTRACE,
	  { CSR("thread_has_started_sys_call([{proc}],\"getppid\"): print([$thread])"),
	    COMMAND("steps 20"), NOTIFIED("( 1,{main}\n.*){3}") } },
	{ "thread_has_ended_sys_call", NEED_PTRACE,
	  { CSR("thread_has_ended_sys_call([{proc}],\"getppid\"): print([$par0])"),
	    COMMAND("steps 20"), NOTIFIED("( 1,{parent}\n.*){3}") } },
	{ "thread_received_signal", NEED_PTRACE,
	  { CSR("thread_received_signal([{thread}],[10]): print([$sig,$thread])"),
	    REQUEST(":thread_send_signal([{thread}],10)"), NOTIFIED(" 2,10,{thread}\n") } },
	{ "thread_creates_proc", NEED_NOTHING,
	  { CSR("thread_creates_proc([{proc}]): print([$proc,$new_proc])"), COMMAND("child"),
	    NOTIFIED(" 2,{proc},p_[^\n]*\n"), COMMAND("unchild") } },
	{ "thread_creates_thread", NEED_NOTHING,
	  { CSR("thread_creates_thread([{proc}]): print([$proc,$new_thread])"), COMMAND("thread"),
	    NOTIFIED(" 2,{proc},t_[^\n]*\n"), COMMAND("unthread") } },
	{ "thread_has_terminated", NEED_NOTHING,
	  { CSR("thread_creates_thread([{proc}]): print([$new_thread])"),
	    CSR("thread_has_terminated([{proc}]): print([$proc,$thread])"), COMMAND("thread"),
	    NOTIFIED(" 1,t_"), COMMAND("unthread"), NOTIFIED(" 2,{proc},t_") } },

	/* probes */
	{ "thread_executes_probe", NEED_NOTHING,
	  { CSR("thread_executes_probe([{proc}],\"scratch_probe\"): print([$thread,$vt,$par2])"),
	    COMMAND("steps 2"), NOTIFIED(" 3,{main},0,0\\.0\n"),
	    NOTIFIED(" 3,{main},1,0\\.5\n") } },
	{ "proc_get_probes", NEED_NOTHING,
	  { REQUEST(":proc_get_probes([{proc}])"),
	    MATCH("^{proc} 1,\\[\"scratch_probe\",\\[\"int32\",\"float64\"\\]\\]\n") } },

	/* events of the program, its calls and probes */
	{ "proc_get_event_types", NEED_NOTHING,
	  { REQUEST(":proc_get_event_types([{proc}])"), MATCH("^{proc} 0\n") } },
	{ "thread_writes_events", NEED_NOTHING,
	  { BUFFER,
	    CSR("thread_writes_events([{proc}],[\"MPI_Barrier\"],\"\"): "
		"trace_buffer_append({buffer},$time,0,[$block])"),
	    COMMAND("calls 2"), REQUEST(":trace_buffer_read([{buffer}],0)"),
	    AWAIT("{buffer},0,[1-9][0-9]*,0\n") } },
	{ "omig_events_off", NEED_NOTHING,
	  { REQUEST(":omig_events_off([\"none such\"])"), MATCH(" 0\n") } },
	{ "omig_events_keep", NEED_NOTHING,
	  { REQUEST(":omig_events_keep(\"selftest\",[\"MPI_Barrier\"],\"\",0,[\"mb\",2])"),
	    MATCH(" \"selftest\",1\n"),
	    REQUEST(":omig_events_keep(\"selftest\",[\"MPI_Barrier\"],\"\",0,[\"mb\",2])"),
	    MATCH(" \"selftest\",0\n"), REQUEST(":omig_events_unkeep(\"selftest\")") } },
	{ "omig_events_kept", NEED_NOTHING,
	  { REQUEST(":omig_events_keep(\"selftest\",[\"all\"],\"\")"),
	    REQUEST(":omig_events_kept()"), MATCH("\\[\"selftest\",[0-9]+,\"on\",0,\"\"\\]"),
	    REQUEST(":omig_events_unkeep(\"selftest\")") } },
	{ "omig_events_unkeep", NEED_NOTHING,
	  { REQUEST(":omig_events_keep(\"selftest\",[\"all\"],\"\")"),
	    REQUEST(":omig_events_unkeep(\"selftest\")"),
	    TRY(":omig_events_unkeep(\"selftest\")"), MATCH("^error") } },

	{ "omig_metrics_add", NEED_NOTHING,
	  { REQUEST(":omig_metrics_add(\"selftest\",\"" METRIC_TEXT "\")"),
	    MATCH("\"selftest\",[0-9]+\n"), REQUEST(":dfg_create([],\"\",\"Selftest_metric\")"),
	    MATCH("d_[0-9]+"), REQUEST(":omig_metrics_remove(\"selftest\")") } },
	{ "omig_metrics_get", NEED_NOTHING,
	  { REQUEST(":omig_metrics_add(\"selftest\",\"" METRIC_TEXT "\")"),
	    REQUEST(":omig_metrics_get(\"Selftest_metric\")"),
	    MATCH("\"selftest\",[0-9]+,\"Selftest_metric"),
	    REQUEST(":omig_metrics_remove(\"selftest\")") } },
	{ "omig_metrics_list", NEED_NOTHING,
	  { REQUEST(":omig_metrics_add(\"selftest\",\"" METRIC_TEXT "\")"),
	    REQUEST(":omig_metrics_list()"),
	    MATCH("\\[\"selftest\",[0-9]+,[0-9]+,[0-9]+,\\[\"Selftest_metric\"\\],\\[\\]\\]"),
	    REQUEST(":omig_metrics_remove(\"selftest\")") } },
	{ "omig_metrics_remove", NEED_NOTHING,
	  { REQUEST(":omig_metrics_add(\"selftest\",\"" METRIC_TEXT "\")"),
	    REQUEST(":omig_metrics_remove(\"selftest\")"),
	    TRY(":omig_metrics_remove(\"selftest\")"), MATCH("^error") } },

	{ "omig_plugin_add", NEED_NOTHING, { ELSEWHERE("plugins/plugins.sh") } },
	{ "omig_plugin_list", NEED_NOTHING, { REQUEST(":omig_plugin_list([])"), MATCH("^") } },
	{ "omig_plugin_remove", NEED_NOTHING,
	  { TRY(":omig_plugin_remove([],\"selftest_none\")"), MATCH("^error") } },
	{ "omig_plugin_services", NEED_NOTHING,
	  { REQUEST(":omig_plugin_services()"), MATCH("^") } },

	/* library calls: those of the scratch process end in itself */
	{ "thread_has_started_lib_call", NEED_NOTHING,
	  { CSR(BARRIER "print([$proc,$thread])"), COMMAND("calls 3"),
	    NOTIFIED("( 2,{proc},{main}\n.*){3}") } },
	{ "thread_has_ended_lib_call", NEED_NOTHING,
	  { CSR(BARRIER_END "print([$proc,$par0])"), COMMAND("calls 3"),
	    NOTIFIED("( 2,{proc},0\n.*){3}") } },
	{ "patop_lib_call_started", NEED_NOTHING,
	  { CSR("patop_lib_call_started([{proc}],\"MPI_Barrier\",[]): print([$proc])"),
	    COMMAND("calls 2"), NOTIFIED("( 1,{proc}\n.*){2}") } },
	{ "patop_lib_call_ended", NEED_NOTHING,
	  { CSR("patop_lib_call_ended([{proc}],\"MPI_Barrier\",[]): print([$proc])"),
	    COMMAND("calls 2"), NOTIFIED("( 1,{proc}\n.*){2}") } },
	{ "omig_calls_enable", NEED_NOTHING,
	  { REQUEST(":omig_calls_enable([{proc}],\"count\")"), COMMAND("calls 7"),
	    REQUEST(":omig_calls_read([{proc}])"), AWAIT("\"MPI_Barrier\",[^]]*,7,") } },
	{ "omig_calls_now", NEED_NOTHING,
	  { COMMAND("calls 1"), REQUEST(":omig_calls_now([{proc}])"),
	    MATCH("\"MPI_Barrier\",\"barrier\",[0-2],") } },
	{ "omig_calls_read", NEED_NOTHING,
	  { REQUEST(":omig_calls_enable([{proc}],\"time\")"),
	    REQUEST(":omig_calls_read([{proc}])"), MATCH("^{proc} [0-9]+"), COMMAND("calls 1"),
	    AWAIT("\"MPI_Barrier\",[^]]*,9,[1-9]") } },
	{ "omig_calls_disable", NEED_NOTHING,
	  { REQUEST(":omig_calls_disable([{proc}])"), REQUEST(":omig_calls_read([{proc}])"),
	    COMMAND("calls 5"), REQUEST(":omig_calls_read([{proc}])"),
	    MATCH("\"MPI_Barrier\",[^]]*,9,") } },
	{ "omig_calls_profile", NEED_NOTHING,
	  { REQUEST(":omig_calls_profile([{proc}],\"call\")"),
	    MATCH("\\[\"MPI_Barrier\",\"barrier\",9,[1-9]") } },
	{ "omig_source", NEED_NOTHING,
	  { REQUEST(":omig_calls_enable([{proc}],\"site\")"), COMMAND("calls 1"),
	    REQUEST(":omig_calls_profile([{proc}],\"site\")"),
	    MATCH("\\[\"MPI_Barrier\",{proc},1,.*\\[\"/[^\"]*\",[0-9]+\\]"),
	    TRY(":omig_source([{proc}],\"/none\",[1])"), MATCH("has not loaded") } },
	{ "pa_counter_local_create", NEED_NOTHING,
	  { COUNTER("local"), MATCH(" pa_[^ ]*\n"), REQUEST(":pa_counter_read([{counter}])"),
	    MATCH("{counter},0") } },
	{ "pa_counter_local_increment", NEED_NOTHING,
	  { COUNTER("local"), CSR(BARRIER "pa_counter_local_increment({counter},2)"),
	    COMMAND("calls 3"), REQUEST(":pa_counter_read([{counter}])"),
	    AWAIT("{counter},6\n") } },
	{ "pa_counter_global_create", NEED_NOTHING,
	  { COUNTER("global"), MATCH(" pa_[^ ]*\n"), REQUEST(":pa_counter_read([{counter}])"),
	    MATCH(" 0\n") } },
	{ "pa_counter_global_increment", NEED_NOTHING,
	  { COUNTER("global"), CSR(BARRIER "pa_counter_global_increment({counter},3)"),
	    COMMAND("calls 3"), REQUEST(":pa_counter_read([{counter}])"), AWAIT(" 9\n") } },
	{ "pa_counter_read", NEED_NOTHING,
	  { COUNTER("local"), CSR(BARRIER_END "pa_counter_local_increment({counter},1)"),
	    COMMAND("calls 5"), REQUEST(":pa_counter_read([{counter}])"),
	    AWAIT("^{proc} {counter},5\n") } },
	{ "pa_counter_reset", NEED_NOTHING,
	  { COUNTER("global"), CSR(BARRIER "pa_counter_global_increment({counter},1)"),
	    COMMAND("calls 4"), REQUEST(":pa_counter_read([{counter}])"), AWAIT(" 4\n"),
	    REQUEST(":pa_counter_reset([{counter}])"), REQUEST(":pa_counter_read([{counter}])"),
	    MATCH(" 0\n"), COMMAND("calls 2"), REQUEST(":pa_counter_read([{counter}])"),
	    AWAIT(" 2\n") } },
	{ "pa_counter_delete", NEED_NOTHING,
	  { COUNTER("local"), REQUEST(":pa_counter_delete([{counter}])"),
	    TRY(":pa_counter_read([{counter}])"), IS_GONE } },
	{ "pa_integrator_local_create", NEED_NOTHING,
	  { INTEGRATOR("local"), MATCH(" pa_[^ ]*\n"),
	    REQUEST(":pa_integrator_read([{integrator}])"),
	    MATCH("{integrator},0\\.0,0\\.0,") } },
	{ "pa_integrator_local_increment", NEED_NOTHING,
	  { INTEGRATOR("local"), INTEGRATE("local"),
	    REQUEST(":pa_integrator_read([{integrator}])"), AWAIT("{integrator}," INTEGRATED) } },
	{ "pa_integrator_global_create", NEED_NOTHING,
	  { INTEGRATOR("global"), MATCH(" pa_[^ ]*\n"),
	    REQUEST(":pa_integrator_read([{integrator}])"), MATCH(" 0\\.0,0\\.0,") } },
	{ "pa_integrator_global_increment", NEED_NOTHING,
	  { INTEGRATOR("global"), INTEGRATE("global"),
	    REQUEST(":pa_integrator_read([{integrator}])"), AWAIT(" " INTEGRATED) } },
	{ "pa_integrator_read", NEED_NOTHING,
	  { INTEGRATOR("local"),
	    CSR(BARRIER "pa_integrator_local_increment({integrator},2.0,$time)"),
	    COMMAND("calls 1"), REQUEST(":pa_integrator_read([{integrator}])"),
	    AWAIT("^{proc} {integrator},[0-9.e-]*[1-9][0-9.e-]*,2\\.0,") } },
	{ "pa_integrator_reset", NEED_NOTHING,
	  { INTEGRATOR("global"), INTEGRATE("global"),
	    REQUEST(":pa_integrator_read([{integrator}])"), AWAIT(" " INTEGRATED),
	    REQUEST(":pa_integrator_reset([{integrator}])"),
	    REQUEST(":pa_integrator_read([{integrator}])"), MATCH(" 0\\.0,0\\.0,") } },
	{ "pa_integrator_delete", NEED_NOTHING,
	  { INTEGRATOR("local"), REQUEST(":pa_integrator_delete([{integrator}])"),
	    TRY(":pa_integrator_read([{integrator}])"), IS_GONE } },
	{ "patop_integrator_local_increment", NEED_NOTHING,
	  { INTEGRATOR("local"), POTENTIAL("local"), COMMAND("calls 400"),
	    REQUEST(":pa_integrator_read([{integrator}])"), AWAIT("{integrator}," INTEGRATED) } },
	{ "patop_integrator_global_increment", NEED_NOTHING,
	  { INTEGRATOR("global"), POTENTIAL("global"), COMMAND("calls 400"),
	    REQUEST(":pa_integrator_read([{integrator}])"), AWAIT(" " INTEGRATED) } },
	{ "patop_measurement_counter_read", NEED_NOTHING,
	  { COUNTER("local"), CSR(BARRIER "pa_counter_local_increment({counter},2)"),
	    COMMAND("calls 3"), REQUEST(":pa_counter_read([{counter}])"), AWAIT(",6\n"),
	    REQUEST(":patop_measurement_counter_read([{counter}],1)"),
	    MATCH("^{proc} {counter},6,[0-9.]+,[0-9.]+\n"), COMMAND("calls 1"),
	    REQUEST(":pa_counter_read([{counter}])"), AWAIT(",8\n"),
	    REQUEST(":patop_measurement_counter_read([{counter}],1)"), MATCH("{counter},2,") } },
	{ "patop_measurement_integrator_read", NEED_NOTHING,
	  { INTEGRATOR("global"),
	    CSR(BARRIER "pa_integrator_global_increment({integrator},2.0,$time)"),
	    COMMAND("calls 1"), REQUEST(":pa_integrator_read([{integrator}])"),
	    AWAIT(",2\\.0,[0-9.]+\n"),
	    REQUEST(":patop_measurement_integrator_read([{integrator}],1)"),
	    MATCH(" [0-9.e-]+,[0-9.]+,[0-9.]+\n"),
	    REQUEST(":patop_measurement_integrator_read([{integrator}],3)"),
	    MATCH(" [12]\\.[0-9]") } },
	{ "trace_buffer_create", NEED_NOTHING,
	  { BUFFER, MATCH(" trace_b_[^ ]*\n"), REQUEST(":trace_buffer_read([{buffer}])"),
	    MATCH("^{proc} {buffer},0,0,0\n") } },
	{ "trace_buffer_append", NEED_NOTHING,
	  { BUFFER, CSR(BARRIER_END "trace_buffer_append({buffer},$time,3,[$thread,$par0])"),
	    COMMAND("calls 2"), REQUEST(":trace_buffer_read([{buffer}],0)"),
	    AWAIT("{buffer},0,2,0\n"), REQUEST(":trace_buffer_read([{buffer}])"),
	    MATCH("{buffer},0,0,0(,\\[[0-9.]+,3,\\[{main},0\\]\\]){2}\n") } },
	{ "trace_buffer_read", NEED_NOTHING,
	  { BUFFER, REQUEST(APPEND("1,[]")), REQUEST(APPEND("2,[\"x\"]")),
	    REQUEST(":trace_buffer_read([{buffer}],1)"),
	    MATCH("^{proc} {buffer},0,1,0,\\[1\\.5,1,\\[\\]\\]\n"),
	    REQUEST(":trace_buffer_read([{buffer}])"),
	    MATCH("^{proc} {buffer},1,0,0,\\[1\\.5,2,\\[\"x\"\\]\\]\n") } },
	{ "trace_buffer_delete", NEED_NOTHING,
	  { BUFFER, REQUEST(":trace_buffer_delete([{buffer}])"),
	    TRY(":trace_buffer_read([{buffer}])"), IS_GONE } },

	/* measurements */
	{ "dfg_create", NEED_NOTHING,
	  { DFG, MATCH(" d_[0-9]+\n"), REQUEST(":dfg_get_info([{dfg}],1)"),
	    MATCH("\"MPI_Barrier_count\",\"calls\",\"new\"") } },
	{ "dfg_start", NEED_NOTHING,
	  { DFG, REQUEST(START), COMMAND("calls 3"), REQUEST(READ), READ_IS("3") } },
	{ "dfg_read", NEED_NOTHING,
	  { DFG, REQUEST(START), COMMAND("calls 2"), REQUEST(READ), READ_IS("2"),
	    COMMAND("calls 2"), REQUEST(READ), READ_IS("4") } },
	{ "dfg_has_read", NEED_NOTHING,
	  { DFG, CSR("dfg_has_read([{dfg}]): print([$dfg,$read,$more,$lost,$values])"),
	    REQUEST(START), REQUEST(READ), NOTIFIED(" [0-9]+,{dfg},1,0,0,\\[\"\",1,0\\.0,") } },
	{ "dfg_stop", NEED_NOTHING,
	  { DFG, REQUEST(START), REQUEST(":dfg_stop([{dfg}])"), TRY(READ),
	    MATCH("does not run") } },
	{ "dfg_add", NEED_NOTHING,
	  { DFG_CPU, REQUEST(":dfg_add([{dfg}],[{node}])"), REQUEST(":dfg_get_info([{dfg}],2)"),
	    MATCH(" \\[{node}\\]\n") } },
	{ "dfg_remove", NEED_NOTHING,
	  { DFG_CPU, REQUEST(":dfg_add([{dfg}],[{node}])"), TRY(":dfg_remove([{dfg}],[{proc}])"),
	    MATCH("nothing would be left to measure") } },
	{ "dfg_get_info", NEED_NOTHING,
	  { DFG, REQUEST(START), REQUEST(":dfg_get_info([{dfg}],33)"),
	    MATCH("\"running\",\"start\",0,0,\"\",0\\],.*"
		  "\"input\",\"MPI_Barrier_count\",\"{proc}\"") } },
	{ "dfg_list", NEED_NOTHING,
	  { DFG, REQUEST(":dfg_list()"),
	    MATCH("\\[{dfg},[0-9]+,\"[^\"]*\",\"MPI_Barrier_count\"") } },
	{ "dfg_look", NEED_NOTHING,
	  { DFG, REQUEST(":dfg_look([{dfg}],1)"), MATCH("\"MPI_Barrier_count\"") } },
	{ "omig_dfg_look", NEED_NOTHING, { ELSEWHERE("measure/dataflow.sh") } },
	{ "dfg_delete", NEED_NOTHING,
	  { DFG, REQUEST(":dfg_delete([{dfg}])"), TRY(READ), IS_GONE } },

	/* asked of an sm that serves many users */
	{ "omig_site_drain", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },
	{ "omig_site_drop", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },
	{ "omig_site_join", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },
	{ "omig_site_limit", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },
	{ "omig_site_status", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },
	{ "omig_site_users", NEED_NOTHING, { ELSEWHERE("requests/site-users.sh") } },

	/* the last of all */
	{ "omig_shutdown", NEED_OWN_MONITOR, { REQUEST(":omig_shutdown()"), QUIET } },
	{ 0 },
};
/* clang-format on */

const struct selftest_row *selftest_row_find(const char *service)
{
	for (const struct selftest_row *r = selftest_rows; r->service; r++)
		if (str_eq(r->service, service))
			return r;
	return NULL;
}

#define METRIC_TEXT "Selftest_metric(Process p) { RETURN Time(NOW); }"

const char *selftest_step_name(enum selftest_step_kind kind)
{
	static const char *const names[] = {
		[STEP_REQUEST] = "request",
		[STEP_TRY] = "try",
		[STEP_OTHER_TOOL] = "other tool",
		[STEP_CSR] = "csr",
		[STEP_SAVE] = "save",
		[STEP_MATCH] = "match",
		[STEP_AWAIT] = "await",
		[STEP_COMMAND] = "command",
		[STEP_OUTPUT] = "output",
		[STEP_PROC_FILE] = "/proc",
		[STEP_NOTIFIED] = "notified",
		[STEP_NOT_NOTIFIED] = "not notified",
		[STEP_ELSEWHERE] = "not tried",
		[STEP_QUIET] = "quiet",
	};

	return kind < ARRAY_LEN(names) && names[kind] ? names[kind] : "";
}
