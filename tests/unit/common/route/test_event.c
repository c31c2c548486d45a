/* SPDX-License-Identifier: Apache-2.0 */
/* Events that can never happen, and the reports about them. */
#include "common/base/array.h"
#include "common/route/event.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <string.h>

/* words NULL: it may happen. */
static void check_event(const char *event, const char *words)
{
	struct omis_request *r;
	struct err e = { 0 };
	char text[300];

	snprintf(text, sizeof(text), "%s: print([1])", event);
	r = world_request(text);
	ck_assert_msg(event_check(r->event, &e) == (words ? -ERR_INVALID : 0), "%s: %s", event,
		      e.text);
	ck_assert_msg(!words || strstr(e.text, words), "%s: %s", event, e.text);
	omis_request_free(r);
}

TEST(possible_events_are_accepted)
{
	static const char *const events[] = {
		"thread_has_started_lib_call([],\"MPI_Send\")",
		"thread_has_ended_lib_call([t_1_000001],\"MPI_Recv\")",
		"patop_lib_call_started([],\"MPI_Send\",[0,t_1_000001],[])",
		"patop_lib_call_ended([],\"MPI_Send\",[1])",
		"patop_lib_call_ended([],\"MPI_Barrier\",[])",
		"thread_executes_probe([],\"step\")",
		"thread_received_signal([],[])",
		"thread_received_signal([],[1,64,9])",
		"thread_has_started_sys_call([],\"\")",
		"thread_has_started_sys_call([],\"write\")",
		"thread_has_ended_sys_call([],\"1\")",
		"thread_reached_addr([],4096)",
		"proc_has_terminated([])",
		"user_event_has_been_raised([])",
	};

	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		check_event(events[i], NULL);
}

TEST(impossible_event_is_refused_with_a_remedy)
{
	static const struct {
		const char *event, *words;
	} cases[] = {
		{ "thread_has_started_lib_call([],\"NOT_A_CALL\")",
		  "'NOT_A_CALL' is not a library call" },
		{ "thread_has_started_lib_call([],\"MPI_Sned\")", "did you mean 'MPI_Send'?" },
		{ "thread_has_ended_lib_call([],\"mpi_barrier\")", "did you mean 'MPI_Barrier'?" },
		{ "patop_lib_call_started([],\"MPI_Sedn\",[])", "did you mean 'MPI_Send'?" },
		{ "patop_lib_call_started([],\"MPI_Send\",[],[\"send\"])", "dfg_create" },
		{ "patop_lib_call_ended([],\"MPI_Send\",[0,-1])", "partner 2 is not a rank" },
		{ "patop_lib_call_started([],\"MPI_Barrier\",[1])",
		  "MPI_Barrier has no partner at its start" },
		{ "patop_lib_call_ended([],\"MPI_Barrier\",[p_1_000001])",
		  "leave the list of partners empty" },
		{ "thread_executes_probe([],\"\")", "1 to 63 bytes" },
		{ "thread_received_signal([],[99])", "no signal 99" },
		{ "thread_received_signal([],[0])", "no signal 0" },
		{ "thread_received_signal([],[9])", "proc_has_terminated" },
		{ "thread_has_started_sys_call([],\"wrote\")", "did you mean 'write'?" },
		{ "thread_has_ended_sys_call([],\"9999\")",
		  "is not a system call of this machine" },
		{ "thread_reached_addr([],0)", "address 0" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_event(cases[i].event, cases[i].words);
}

SUITE("route event")
