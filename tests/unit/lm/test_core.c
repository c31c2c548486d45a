/* SPDX-License-Identifier: Apache-2.0 */
/* The lm between a host and a daemon above: register, measure, die, restart. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/omis/text/value.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <string.h>

static struct world w;
static struct fake_segment seg, other;

static const struct msg_object *find_object(struct above *a, const char *token)
{
	const struct msg_object *found = NULL;

	for (size_t i = 0; i < a->got.n; i++)
		for (size_t k = 0;
		     a->got.m[i]->type == MSG_DIRECTORY && k < a->got.m[i]->directory.nobject; k++)
			if (!strcmp(a->got.m[i]->directory.object[k].token, token))
				found = &a->got.m[i]->directory.object[k];
	return found;
}

/* The @ is replaced by the object. */
static const struct msg_entry *ask_one(const char *identity, const char *pattern,
				       const char *object)
{
	size_t n = strcspn(pattern, "@");
	char text[256];

	snprintf(text, sizeof(text), "%.*s%s%s", (int)n, pattern, object, pattern + n + 1);
	return reply_entry_of(world_ask(&w, identity, text), NULL);
}

TEST(a_link_that_comes_up_gets_a_full_directory)
{
	const struct msg *m;

	world_open(&w);
	m = above_next(&w.mainsm, MSG_DIRECTORY);
	ck_assert_ptr_nonnull(m);
	ck_assert(m->directory.full);
	ck_assert_uint_eq(m->directory.node, WORLD_NODE);
	ck_assert_uint_eq(m->directory.nobject, 0);
	world_close(&w);
}

TEST(a_rank_that_registers_appears_with_its_threads)
{
	const struct msg_object *o;
	char token[TOKEN_BYTES];
	bool has_thread = false;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, token);
	ck_assert_int_eq(strncmp(token, "p_7_", 4), 0);
	o = find_object(&w.mainsm, token);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(o->parent, "n_7");
	ck_assert_str_eq(o->name, "heat");
	ck_assert_str_eq(o->job, "job-1");
	ck_assert_str_eq(o->flavour, "mpich");
	ck_assert_int_eq(o->pid, 100);
	ck_assert_int_eq(o->rank, 3);
	ck_assert_int_eq(o->world_size, 4);
	ck_assert_uint_eq(o->state, MSG_STATE_RUN);
	for (size_t i = 0; i < w.mainsm.got.n; i++)
		for (size_t k = 0; w.mainsm.got.m[i]->type == MSG_DIRECTORY &&
				   k < w.mainsm.got.m[i]->directory.nobject;
		     k++)
			has_thread |= !strcmp(w.mainsm.got.m[i]->directory.object[k].parent, token);
	ck_assert(has_thread);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(node_figures_are_reported_and_rates_need_a_second)
{
	const struct msg_entry *e;
	nsec_t before;

	world_open(&w);
	e = ask_one(OBSERVER, ":node_get_info([@],7)", "n_7");
	ck_assert_uint_eq(e->status, STATUS_OK);
	ck_assert_str_eq(e->objects, "n_7");
	ck_assert_str_eq(entry_text(e), "\"leaf\",\"Fake\",\"\",\"\",\"\",0,\"none\",4,0,0,-1,-1");
	e = ask_one(OBSERVER, ":node_get_info([@],0)", "n_7");
	ck_assert_str_eq(entry_text(e), "");
	before = loop_now(w.loop);
	w.host.counts = 1000;
	e = ask_one(OBSERVER, ":node_get_info([@],128)", "n_7");
	ck_assert_int_ge(loop_now(w.loop) - before, RATES_MIN_NS);
	ck_assert_str_eq(entry_text(e), "0.0,-1.0,0.0");
	w.host.counts = 3000;
	before = loop_now(w.loop);
	ask_one(OBSERVER, ":node_get_info([@],128)", "n_7");
	ck_assert_int_lt(loop_now(w.loop) - before, 50 * MS); /* the rates are measured already */
	world_close(&w);
}

/* Each bit has its own values, in the order of the bits. */
TEST(each_flag_of_a_node_has_its_values)
{
	static const char *const want[] = { "\"leaf\"",
					    "\"Fake\",\"\",\"\",\"\",0",
					    "\"none\",4,0,0,-1,-1",
					    "1000,4096,-1",
					    "0,0,0,0,-1",
					    "1,[\"loopback\",\"\",0,-1]",
					    "0",
					    "0.0,-1.0,0.0",
					    "2,0,-1,0,0,0.5,0.0,0.0",
					    "0,0,30",
					    "0.0,0.0,0.0,0.0,0.0,0.0",
					    "0.0,0.0,0.0,0.0,0.0,0.0",
					    "0.0,0.0,0.0,0.0,0.0,0.0,0.0",
					    "0,0,0,0",
					    "-1.0,-1.0,-1.0,-1.0,-1.0",
					    "0.125,0.25,0.0,0.375,0.0",
					    "0,0,0.0" };
	char text[60], all[1024];
	size_t n = 0;

	world_open(&w);
	for (unsigned bit = 0; bit < ARRAY_LEN(want); bit++) {
		snprintf(text, sizeof(text), ":node_get_info([@],%u)", 1u << bit);
		ck_assert_str_eq(entry_text(ask_one(OBSERVER, text, "n_7")), want[bit]);
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", bit ? "," : "", want[bit]);
	}
	ck_assert_str_eq(entry_text(ask_one(OBSERVER, ":node_get_info([@],131071)", "n_7")), all);
	world_close(&w);
}

TEST(process_and_thread_figures_are_reported)
{
	char token[TOKEN_BYTES];
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, token);
	e = ask_one(MANIPULATOR, ":proc_get_info([@],515)", token);
	ck_assert_str_eq(e->objects, token);
	ck_assert_str_eq(entry_text(e), "3,[\"/bin/prog\",\"-x\"],100");
	e = ask_one(OBSERVER, ":proc_get_info([@],11520)",
		    token); /* node, state, time, system time */
	ck_assert_str_eq(entry_text(e), "n_7,1,1.75,0.25");
	e = ask_one(OBSERVER, ":thread_get_info([@],386)", token);
	ck_assert_int_eq(strncmp(e->objects, "t_7_", 4), 0);
	ck_assert_str_eq(entry_text(e), "3,100,1");
	e = ask_one(OBSERVER, ":proc_get_info([@],0)", "p_7_000001");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	e = ask_one(OBSERVER, ":proc_get_info([@],0)", "p_8_000001");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(the_age_of_a_process_continues_after_its_end)
{
	char token[TOKEN_BYTES];
	double age, ended;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, token);
	world_run(&w, 2 * SEC);
	ck_assert_str_eq(entry_text(ask_one(OBSERVER, ":proc_get_info([@],201326592)", token)),
			 "40.0,-1.0");
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 3 * SEC);
	ck_assert_int_eq(
		sscanf(entry_text(ask_one(OBSERVER, ":proc_get_info([@],201326592)", token)),
		       "%lf,%lf", &age, &ended),
		2);
	ck_assert_double_eq_tol(age, 43, 0.1);
	ck_assert_double_eq_tol(ended, 3, 0.1);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(an_empty_list_is_success_without_objects)
{
	const struct msg_reply *r;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, NULL);
	r = world_ask(&w, MANIPULATOR, ":proc_send_signal([],9)");
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	ck_assert_uint_eq(fake_proc_find(&w.host, 100)->nsignal, 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(calls_are_counted_for_each_tool_alone)
{
	const struct fake_call send = {
		.name = "MPI_Send", .bytes_out = 80, .ticks = 5000, .partner = 1
	};
	char token[TOKEN_BYTES], text[128];
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, token);
	fake_segment_call(&seg, &send);
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"count\")", token);
	world_ask_as(&w, 1, OBSERVER, text);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"volume\",4)", token);
	world_ask_as(&w, 2, OBSERVER, text);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | 4u << HOOK_SAMPLE_SHIFT);
	fake_segment_call(&seg, &send);
	fake_segment_call(&seg, &send);
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"MPI_Send\",\"send\",2,10000,0,160,0]"));
	e = ask_one(OBSERVER, ":omig_calls_read([@],1)", token);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"send\",\"send\",2,10000,0,160,0]"));
	snprintf(text, sizeof(text), ":omig_calls_disable([%s])", token);
	world_ask_as(&w, 2, OBSERVER, text);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(the_finest_sampling_wins_and_unknown_classes_are_refused)
{
	char token[TOKEN_BYTES], text[128];
	const struct msg_reply *r;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 3, token);
	for (int shift = 6; shift >= 2; shift -= 2) {
		snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"time\",%d)", token, shift);
		world_ask_as(&w, (uint32_t)shift, OBSERVER, text);
		ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv") >> HOOK_SAMPLE_SHIFT,
				  (unsigned)shift);
	}
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"everything\")", token);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"time\",17)", token);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_call_that_has_not_ended_counts)
{
	char token[TOKEN_BYTES];
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	ask_one(OBSERVER, ":omig_calls_enable([@],\"time\")", token);
	fake_segment_enter(&seg, "MPI_Barrier");
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"MPI_Barrier\",\"barrier\",1,"));
	ck_assert_ptr_null(strstr(entry_text(e), "\"barrier\",1,0,"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), ",1,0,0]"));
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(the_last_values_of_a_dead_rank_stay_for_a_while)
{
	char token[TOKEN_BYTES];
	const struct msg_object *o;
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	ask_one(OBSERVER, ":omig_calls_enable([@],\"count\")", token);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Recv", .partner = 2 });
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, 10 * MS);
	o = find_object(&w.mainsm, token);
	ck_assert_uint_eq(o->state, MSG_STATE_ENDED);
	ck_assert_int_eq(o->exit_status, SIGKILL);
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"MPI_Recv\",\"receive\",1,"));
	e = ask_one(OBSERVER, ":proc_get_info([@],3584)", token);
	ck_assert_str_eq(entry_text(e), "100,3,1.75");
	e = ask_one(MANIPULATOR, ":proc_send_signal([@],9)", token);
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	world_run(&w, PROCS_ENDED_KEEP_NS);
	o = find_object(&w.mainsm, token);
	ck_assert_uint_eq(o->op, MSG_OP_GONE);
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(an_lm_that_starts_again_finds_what_runs)
{
	char token[TOKEN_BYTES], again[TOKEN_BYTES];
	const struct msg_object *o;
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, token);
	ask_one(OBSERVER, ":omig_calls_enable([@],\"count\")", token);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 2 });
	world_crash_lm(&w);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 2 });
	world_start_lm(&w);
	str_copy(again, sizeof(again), world_token(&w, 100));
	ck_assert_str_eq(again, token);
	o = find_object(&w.mainsm, token);
	ck_assert_int_eq(o->rank, 5);
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_ptr_nonnull(
		strstr(entry_text(e), "[\"MPI_Send\",\"send\",2,")); /* it continued to count */
	ask_one(OBSERVER, ":omig_calls_disable([@])", token);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(counting_started_by_the_program_outlives_tool_requests)
{
	char token[TOKEN_BYTES];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, NULL);
	world_crash_lm(&w);
	seg.h->w.start_word = HOOK_COUNT; /* OMIG_START=count */
	for (int i = 0; i < 2; i++) {
		world_start_lm(&w);
		str_copy(token, sizeof(token), world_token(&w, 100));
		ask_one(OBSERVER, ":omig_calls_enable([@],\"time\")", token);
		ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT | HOOK_TIME);
		ask_one(OBSERVER, ":omig_calls_disable([@])", token);
		ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
		if (!i)
			world_crash_lm(&w);
	}
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_child_that_inherited_a_segment_is_not_taken_for_its_owner)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 5, NULL);
	world_crash_lm(&w);
	fake_proc_add(&w.host, 90, "child")->memfd = seg.fd;
	world_start_lm(&w);
	ck_assert_str_eq(world_token(&w, 90), "");
	ck_assert_str_ne(world_token(&w, 100), "");
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_program_that_execs_keeps_its_token)
{
	char token[TOKEN_BYTES];
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	ask_one(OBSERVER, ":omig_calls_enable([@],\"count\")", token);
	fake_segment_open(&other, 100, 1, 100);
	ck_assert_int_eq(registration_segment(w.lm->registration, dup(other.fd), 100, false), 0);
	ck_assert_str_eq(world_token(&w, 100), token);
	ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), HOOK_COUNT);
	fake_segment_call(&other, &(struct fake_call){ .name = "MPI_Bsend", .partner = 2 });
	e = ask_one(OBSERVER, ":omig_calls_read([@])", token);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "MPI_Bsend"));
	world_close(&w);
	fake_segment_close(&seg);
	fake_segment_close(&other);
}

TEST(a_process_without_mpi_can_be_taken_in)
{
	const struct msg_entry *e;
	const struct msg_object *o;
	char words[ERR_TEXT_BYTES];

	world_open(&w);
	fake_proc_add(&w.host, 200, "shell");
	fake_proc_add(&w.host, 300, "other")->is_foreign = true;
	e = ask_one(OBSERVER, ":omig_proc_take([@],200,\"shell\")", "n_7");
	ck_assert_uint_eq(e->status, STATUS_OK);
	ck_assert_str_eq(entry_text(e), world_token(&w, 200));
	o = find_object(&w.mainsm, world_token(&w, 200));
	ck_assert_str_eq(o->name, "shell");
	ck_assert_int_eq(o->rank, -1);
	e = ask_one(OBSERVER, ":omig_calls_enable([@],\"count\")", world_token(&w, 200));
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT); /* the request is for ranks only */
	e = ask_one(OBSERVER, ":omig_calls_read([@])", world_token(&w, 200));
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	e = ask_one(OBSERVER, ":omig_proc_take([@],200,\"vi\")", "n_7");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	/* A process with another program than the named one is not watched. */
	fake_proc_add(&w.host, 400, "cat");
	e = ask_one(OBSERVER, ":omig_proc_take([@],400,\"/bin/dog\")", "n_7");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_str_eq(world_token(&w, 400), "");
	str_copy(words, sizeof(words), entry_text(e));
	e = ask_one(OBSERVER, ":omig_proc_take([@],400,\"/bin/cat\")", "n_7");
	ck_assert_uint_eq(e->status, STATUS_OK);
	for (size_t i = 0; i < 5; i++) { /* the same answer for any error */
		static const char *const pid[] = { "300", "1", "0", "-1", "4294967496" };
		char text[64];

		snprintf(text, sizeof(text), ":omig_proc_take([@],%s,\"\")", pid[i]);
		e = ask_one(MANIPULATOR, text, "n_7");
		ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
		ck_assert_str_eq(entry_text(e), words);
	}
	world_close(&w);
}

TEST(status_reports_the_lm_itself)
{
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, NULL);
	e = reply_entry_of(world_ask(&w, OBSERVER, ":omig_status()"), "n_7");
	ck_assert_int_eq(strncmp(entry_text(e), "\"lm\",\"", 6), 0);
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"processes\",1]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"segments_taken\",1]"));
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(status_reports_the_losses_of_all_ranks_ended_ones_too)
{
	const struct msg_entry *e;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_add_rank(&w, &other, 200, 1, NULL);
	seg.h->w.threads_lost = 2;
	seg.h->w.calls_lost = 70;
	seg.h->w.actions_skipped = 1;
	seg.h->w.requests_lost = 4;
	fake_segment_thread(&seg, 0)->partner_lost = 5;
	fake_segment_thread(&seg, 0)->ring_dropped = 40;
	other.h->w.calls_lost = 3;
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	e = reply_entry_of(world_ask(&w, OBSERVER, ":omig_status()"), "n_7");
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"threads_unwatched\",2]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"calls_unwatched\",73]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"actions_skipped\",1]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"calls_without_partner\",5]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"requests_uncounted\",4]"));
	ck_assert_ptr_nonnull(strstr(entry_text(e), "[\"records_dropped\",40]"));
	world_close(&w);
	fake_segment_close(&seg);
	fake_segment_close(&other);
}

TEST(unsupported_requests_are_errors_with_a_status)
{
	const struct msg_reply *r;

	world_open(&w);
	r = world_ask(&w, MANIPULATOR, ":proc_checkpoint([n_7],\"x\")");
	ck_assert_uint_eq(r->entry[0].status, STATUS_UNSUPPORTED_SERVICE);
	r = world_ask(&w, OBSERVER, ":print(1)");
	ck_assert_uint_eq(r->entry[0].status, STATUS_UNSUPPORTED_SERVICE);
	r = world_ask(&w, OBSERVER, "node_get_info(");
	ck_assert_uint_eq(r->entry[0].status, STATUS_SYNTAX_ERROR);
	r = world_ask(&w, OBSERVER, "proc_has_terminated([n_7]): node_get_info([n_7],0)");
	ck_assert_uint_eq(r->entry[0].action, 0);
	ck_assert_uint_ge(r->entry[0].status, STATUS_FIRST_ERROR);
	world_close(&w);
}

TEST(a_request_that_arrives_twice_is_done_once)
{
	struct msg m = { .type = MSG_REQUEST,
			 .request = {
				 .id = 900, .identity = MANIPULATOR, .right = OMIS_MANIPULATE } };
	char token[TOKEN_BYTES], text[128];
	unsigned replies = 0;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	snprintf(text, sizeof(text), ":proc_send_signal([%s],10)", token);
	m.request.text = (struct bytes){ (const uint8_t *)text, strlen(text) };
	for (int i = 0; i < 5; i++)
		above_send(&w.mainsm, &m);
	world_run(&w, 50 * MS);
	while (above_next(&w.mainsm, MSG_REPLY))
		replies++;
	ck_assert_uint_eq(replies, 5);
	ck_assert_uint_eq(fake_proc_find(&w.host, 100)->nsignal, 1);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_cancelled_request_is_not_answered)
{
	static const char text[] = ":node_get_info([n_7],128)";
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = 901,
				      .identity = OBSERVER,
				      .right = OMIS_OBSERVE,
				      .text = { (const uint8_t *)text, sizeof(text) - 1 } } };

	world_open(&w);
	above_send(&w.mainsm, &m);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(tasks_waiting(w.lm->tasks), 1);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_CANCEL, .cancel = { .id = 901 } });
	world_run(&w, 5 * SEC);
	ck_assert_uint_eq(tasks_waiting(w.lm->tasks), 0);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_REPLY));
	world_close(&w);
}

TEST(a_deadline_ends_what_waits)
{
	static const char text[] = ":node_get_info([n_7],128) node_get_info([n_7],0)";
	const uint32_t number[2] = { 4, 9 };
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = 902,
				      .identity = OBSERVER,
				      .right = OMIS_OBSERVE,
				      .deadline_ns = 300 * MS,
				      .action = number,
				      .naction = 2,
				      .text = { (const uint8_t *)text, sizeof(text) - 1 } } };
	const struct msg *got;

	world_open(&w);
	above_send(&w.mainsm, &m);
	world_run(&w, 400 * MS);
	got = above_next(&w.mainsm, MSG_REPLY);
	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(got->reply.nentry, 2);
	ck_assert_uint_eq(got->reply.entry[0].action, 4);
	ck_assert_uint_eq(got->reply.entry[0].status, STATUS_UNSPECIFIED_ERROR);
	ck_assert_uint_eq(got->reply.entry[1].action, 9);
	world_run(&w, 3 * SEC);
	world_close(&w);
}

SUITE("lm core")
