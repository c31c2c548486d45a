/* SPDX-License-Identifier: Apache-2.0 */
/* mainsm with two sms of two hosts each: measurements, from a tool's request to the values that it
 * reads. */
#include "common/base/array.h"
#include "mainsm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_values.h"

#define LOOPS                                                                                      \
	"Ratio(Process[] procs, TimeInterval t) { Process p; Value[] x; x[p] = Send_count(p, t); " \
	"RETURN MAX(x[p] WHERE p IN procs) / MIN(x[p] WHERE p IN procs); }"

static char csr[CSR_TOKEN_BYTES];

static void start(void)
{
	char request[160];

	snprintf(request, sizeof(request),
		 "dfg_has_read([%s]): print([$dfg,$read,$values,$more,$lost])", dfg);
	above_arm(&t, request, csr);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
}

static void measure(const char *objects, const char *text, const char *metric, const char *options)
{
	create(objects, text, metric, options);
	start();
}

/* Runs until the end of interval `read`, where both sites send their values. */
static void read_both(int64_t read)
{
	int64_t at = in_a.start + read * in_a.every;
	int64_t now = world_wall(&w);

	if (at > now)
		world_run(&w, at - now);
	measured_send(&in_a, read, at);
	measured_send(&in_b, read, at);
}

TEST(a_sum_over_two_sites_is_one_value)
{
	struct value v;

	measure("[]", "", "Send_volume", "[\"every_ms\",1000]");
	ck_assert_uint_eq(in_a.loads, 1);
	ck_assert_uint_eq(in_a.n, 3);
	ck_assert_int_eq(in_a.every, SEC);
	read_both(1);
	ck_assert_uint_eq(events(), 1);
	v = value_at(0);
	ck_assert_str_eq(v.object, "");
	ck_assert_double_eq(v.value, 2 * (100 + 200 + 300 + 400) + 40);
	ck_assert_int_eq(v.k, 8);
	ck_assert_int_eq(v.n, 8);
	ck_assert_str_eq(v.flags, "");
	ck_assert_int_eq(v.key, 1);
}

TEST(by_process_each_has_a_value_of_its_own)
{
	measure("[n_1,p_3_b00000]", "", "Send_volume", "[\"every_ms\",1000,\"by\",\"process\"]");
	read_both(1);
	ck_assert_str_eq(value_at(0).object, "p_1_a00000");
	ck_assert_double_eq(value_at(0).value, 100);
	ck_assert_str_eq(value_at(1).object, "p_1_b00000");
	ck_assert_str_eq(value_at(2).object, "p_3_b00000");
	ck_assert_double_eq(value_at(2).value, 310);
}

TEST(since_the_last_read_and_per_second_are_what_has_come)
{
	measure("[]", "", "Send_volume", "[\"every_ms\",2000,\"mode\",\"last\",\"rate\",1]");
	read_both(1);
	more = 6;
	read_both(2);
	ck_assert_double_eq(value_at(0).value, 8 * 6 / 2.0);
	read_both(3);
	ck_assert_double_eq(value_at(0).value, 0);
}

TEST(a_metric_of_a_text_is_put_together_at_the_top)
{
	measure("[]", LOOPS, "Ratio", "[\"every_ms\",1000]");
	read_both(1);
	ck_assert_double_eq(value_at(0).value, 410.0 / 100);
}

TEST(a_silent_site_is_missed_after_the_grace_and_counts_again)
{
	int64_t at;

	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	read_both(1);
	at = in_a.start + 2 * in_a.every;
	world_run(&w, at - world_wall(&w));
	measured_send(&in_a, 2, at);
	ck_assert_uint_eq(events(), 1);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(events(), 2);
	ck_assert_int_eq(value_at(0).k, 4);
	ck_assert_int_eq(value_at(0).n, 8);
	ck_assert_str_eq(value_at(0).flags, "partial,missing");
	measured_send(&in_b, 2, at);
	ck_assert_uint_eq(events(), 2);
	read_both(3);
	ck_assert_int_eq(value_at(0).k, 8);
	ck_assert_str_eq(value_at(0).flags, "");
}

TEST(a_site_that_is_silent_for_long_is_not_awaited)
{
	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	for (int64_t read = 1; read < 6; read++) {
		int64_t at = in_a.start + read * in_a.every;

		world_run(&w, at - world_wall(&w));
		measured_send(&in_a, read, at);
		ck_assert_uint_eq(events(), read < 4 ? read - 1 : read);
	}
	read_both(6);
	ck_assert_int_eq(value_at(0).k, 4);
	read_both(7);
	ck_assert_int_eq(value_at(0).k, 8);
}

/*
 * The machine was suspended, or mainsm did not run: values of that time are lost, later ones are
 * not.
 */
TEST(after_a_long_sleep_the_reads_continue)
{
	const nsec_t every = 100 * MS, slept = 30 * every;
	unsigned before;

	measure("[]", "", "Send_volume", "[\"every_ms\",100]");
	for (int64_t read = 1; read <= 3; read++)
		read_both(read);
	w.timebase.offset += slept;
	before = events();
	for (int64_t read = 34; read < 54; read++) {
		nsec_t at = in_a.start + read * every;

		world_run(&w, at - slept - world_wall(&w));
		measured_send(&in_a, read, at);
		measured_send(&in_b, read, at);
	}
	ck_assert_uint_ge(events(), before + 10);
	ck_assert_int_eq(value_at(0).key, 53);
	ck_assert_int_eq(value_at(0).k, 8);
}

TEST(new_processes_are_measured_and_ended_ones_still_count)
{
	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	read_both(1);
	below_report_proc(&a, 1, "p_1_c00000", 50);
	ck_assert_uint_eq(above_status(&t, ":proc_attach([n_1])"), STATUS_OK);
	world_run(&w, 500 * MS);
	ck_assert_uint_eq(in_a.loads, 2);
	ck_assert_uint_eq(in_a.read, 1);
	ck_assert_uint_eq(in_b.loads, 1);
	read_both(2);
	ck_assert_int_eq(value_at(0).n, 9);
	ck_assert_int_eq(value_at(0).k, 9);
	below_report_end(&a, 1);
	world_run(&w, 500 * MS);
	ck_assert_uint_eq(in_a.loads, 2);
	read_both(3);
	ck_assert_int_eq(value_at(0).n, 9);
}

/* Returns dfg_routes of the status of mainsm. */
static int64_t routes(void)
{
	static const char name[] = "[\"dfg_routes\",";
	struct buf status = BUF_INIT(FRAME_MAX_BYTES);
	const char *at;
	int64_t n;

	mainsm_status(w.m, &status);
	at = strstr(buf_str(&status), name);
	ck_assert_msg(at != NULL, "%s", buf_str(&status));
	n = strtoll(at + sizeof(name) - 1, NULL, 10);
	buf_done(&status);
	return n;
}

TEST(unrelated_changes_do_not_replan_a_measurement)
{
	int64_t before;

	measure("[n_1]", "", "Send_volume", "[\"every_ms\",10000]");
	world_run(&w, SEC);
	before = routes();
	ck_assert_int_gt(before, 0);
	below_report_proc(&b, 3, "p_3_c00000", 50);
	world_run(&w, SEC);
	ck_assert_int_eq(routes(), before);
	link_close(a.link, "a cut");
	world_run(&w, SEC);
	ck_assert_int_gt(routes(), before);
	below_again(&a);
	below_report(&a, 1, "h1");
	world_run(&w, SEC);
	ck_assert_uint_gt(in_a.loads, 1);
	ck_assert_ptr_nonnull(measured_find(&in_a, "n_1"));
	world_run(&w, in_a.start + ((int64_t)in_a.read + 1) * in_a.every - world_wall(&w));
	measured_send(&in_a, (int64_t)in_a.read + 1,
		      in_a.start + ((int64_t)in_a.read + 1) * in_a.every);
	ck_assert_double_eq(value_at(0).value, 210);
}

TEST(objects_are_added_and_taken_away_while_it_runs)
{
	measure("[n_1]", "", "Send_volume", "[\"every_ms\",10000]");
	ck_assert_uint_eq(in_b.loads, 0);
	world_run(&w, in_a.start + in_a.every - world_wall(&w));
	measured_send(&in_a, 1, in_a.start + in_a.every);
	ck_assert_double_eq(value_at(0).value, 210);
	ck_assert_uint_eq(reply_status(ask("dfg_add", ",[n_3]")), STATUS_OK);
	ck_assert_uint_eq(in_b.loads, 1);
	read_both(2);
	ck_assert_double_eq(value_at(0).value, 210 + 610);
	ck_assert_uint_eq(reply_status(ask("dfg_remove", ",[n_1]")), STATUS_OK);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_ne(reply_status(ask("dfg_remove", ",[n_3]")), STATUS_OK);
}

TEST(a_site_that_is_lost_is_loaded_again)
{
	uint64_t version;

	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	read_both(1);
	version = in_b.version;
	link_close(b.link, "a cut");
	world_run(&w, 500 * MS);
	measured_send(&in_a, 2, in_a.start + 2 * in_a.every);
	world_run(&w, in_a.start + 2 * in_a.every - world_wall(&w) + 10 * MS);
	ck_assert_uint_eq(events(), 2);
	ck_assert_int_eq(value_at(0).k, 4);
	below_again(&b);
	below_report(&b, 3, "h3");
	below_report(&b, 4, "h4");
	world_run(&w, 500 * MS);
	ck_assert_uint_gt(in_b.version, version);
	ck_assert_uint_eq(in_b.read, 2);
	read_both(3);
	ck_assert_int_eq(value_at(0).k, 8);
}

BARE_TEST(hosts_without_an_sm_are_put_together_here)
{
	struct measured in_lm[2];
	struct fake_branch lm[2];

	more = 0;
	world_open(&w);
	world_stop(&w);
	w.conf.launcher = "none";
	world_start(&w);
	below_open(&w, &lm[0], ROLE_LM, "a", "h1");
	below_open(&w, &lm[1], ROLE_LM, "a", "h2");
	below_report(&lm[0], 1, "h1");
	below_report(&lm[1], 2, "h2");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	measured_open(&in_lm[0], &lm[0], told);
	measured_open(&in_lm[1], &lm[1], told);
	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	ck_assert_uint_eq(in_lm[0].n, 1);
	ck_assert_str_eq(in_lm[0].piece[0].object, "n_1");
	world_run(&w, in_lm[0].every);
	for (int i = 0; i < 2; i++)
		measured_send(&in_lm[i], 1, in_lm[i].start + in_lm[i].every);
	ck_assert_double_eq(value_at(0).value, 620);
	ck_assert_int_eq(value_at(0).k, 4);
	above_close(&t);
	for (int i = 0; i < 2; i++) {
		below_close(&lm[i]);
		measured_clear(&in_lm[i]);
	}
	world_done(&w);
}

TEST(a_read_by_request_is_answered_with_its_values)
{
	const struct reply *r;
	uint64_t id;

	create("[]", "", "Send_volume", "[\"every_ms\",0]");
	ck_assert_uint_ne(reply_status(ask("dfg_read", "")), STATUS_OK);
	start();
	world_run(&w, 20 * SEC);
	ck_assert_uint_eq(events(), 0);
	id = above_send(&t, ":dfg_read([])", 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(in_a.reads, 1);
	measured_send(&in_a, 1, in_a.read_at);
	measured_send(&in_b, 1, in_b.read_at);
	r = t.last;
	ck_assert_uint_eq(events(), 1);
	ck_assert_uint_eq(r->id, id);
	ck_assert_msg(strncmp(entry_of(r, 1, 0)->value, "1,", 2) == 0, "%s",
		      entry_of(r, 1, 0)->value);
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "[[\"\",1,2040.0,"));
	/* The measurement is deleted while a request waits for its next read. */
	id = above_send(&t, ":dfg_read([])", 0);
	world_run(&w, 20 * MS);
	above_send(&t, ":dfg_delete([])", 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_eq(t.last->id, id);
	ck_assert_uint_eq(reply_status(t.last), STATUS_UNSPECIFIED_ERROR);
}

/* Actions after a read may delete its measurement. */
TEST(a_request_may_read_and_delete)
{
	char request[256];
	uint64_t id;

	create("[]", "", "Send_volume", "[\"every_ms\",0]");
	snprintf(request, sizeof(request),
		 ":dfg_start([%s]) dfg_read([%s]) dfg_delete([%s]) dfg_list()", dfg, dfg, dfg);
	id = above_send(&t, request, 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(in_a.reads, 1);
	measured_send(&in_a, 1, in_a.read_at);
	measured_send(&in_b, 1, in_b.read_at);
	ck_assert_uint_eq(t.last->id, id);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_str_eq(entry_of(t.last, 4, 0)->value, "");
	ck_assert_uint_eq(in_a.ends, 1);
	/* The tool disconnects while other requests wait. */
	create("[]", "", "Send_volume", "[\"every_ms\",0]");
	in_a.no_ack = true;
	snprintf(request, sizeof(request), ":dfg_start([%s])", dfg);
	above_send(&t, request, 0);
	world_run(&w, 20 * MS);
	above_close(&t);
	t.link = NULL;
	world_run(&w, 3 * SEC);
}

TEST(an_event_of_a_read_may_delete_what_was_read)
{
	char request[160];

	create("[]", "", "Send_volume", "[\"every_ms\",1000]");
	snprintf(request, sizeof(request), "dfg_has_read([]): print([$read]) dfg_delete([$dfg])");
	above_arm(&t, request, csr);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
	read_both(1);
	ck_assert_uint_eq(events(), 1);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_eq(reply_status(ask("dfg_stop", "")), STATUS_UNKNOWN_OBJECT);
}

TEST(a_measurement_ends_on_all_hosts_by_stop_or_with_its_tool)
{
	measure("[]", "", "Send_volume", "[]");
	ask("dfg_stop", "");
	ck_assert_uint_eq(in_a.ends, 1);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(events(), 0);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
	ck_assert_uint_eq(in_a.loads, 2);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_UNSPECIFIED_ERROR);
	read_both(1);
	ck_assert_uint_eq(events(), 1);
	above_close(&t);
	t.link = NULL;
	world_run(&w, 50 * MS);
	ck_assert_uint_ge(in_a.ends + a.gones, 2);
	/* Late senders are ordered to end. */
	in_a.ends = 0;
	measured_send(&in_a, 2, in_a.start + 2 * SEC);
	ck_assert_uint_eq(in_a.ends, 1);
}

TEST(dfg_create_error_has_a_reason)
{
#define CREATE(arguments) ":dfg_create(" arguments ")"
	static const struct {
		const char *call, *words;
	} bad[] = {
		{ ":dfg_create([],\"\",\"Nonsense\")", "no built-in metric Nonsense" },
		{ ":dfg_create([],\"\",\"send_volum\")",
		  "no built-in metric send_volum; did you mean Send_volume?" },
		{ ":dfg_create([],\"M(\",\"M\")", "text:1:" },
		{ ":dfg_create([],\"M(TimeInterval t) { RETURN 1; }\",\"N\")",
		  "there is no metric N" },
		{ ":dfg_create([p_1_zzzzzz],\"\",\"Send_volume\")",
		  "there is no such object: p_1_zzzzzz" },
		{ ":dfg_create([],\"\",\"Send_volume\",[\"every_ms\",3])",
		  "not a value of the option every_ms" },
		{ ":dfg_create([],\"\",\"Send_volume\",[\"agg\",\"HISTOGRAM\"])",
		  "not a value of the option agg: it takes COUNT, SUM, MIN, " },
		{ ":dfg_create([],\"\",\"Send_volume\",[\"mode\",\"x\"])",
		  "mode: it takes start or last" },
		{ ":dfg_create([],\"\",\"Send_volume\",[\"colour\",3])",
		  "there is no option colour" },
		{ ":dfg_create([],\"\",\"Send_volume\",[],[\"q\",3])",
		  "the metric has no parameter q" },
		{ ":dfg_create([],\"\",\"Node_load\",[],[\"partners\",[p_1_a00000]])",
		  "no partners" },
		{ ":dfg_create([],\"\",\"Send_volume\",[\"by\"])", "options are names" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct reply *r = above_ask(&t, bad[i].call);

		ck_assert_msg(status_is_error(reply_status(r)), "%s", bad[i].call);
		ck_assert_msg(strstr(r->entry[0].value, bad[i].words) != NULL, "%s: %s",
			      bad[i].call, r->entry[0].value);
	}
	ck_assert_uint_eq(above_status(&t, ":dfg_start([d_1])"), STATUS_UNKNOWN_OBJECT);
	for (size_t i = 0; i < MEASURES_PER_TOOL_MAX; i++)
		create("[]", "", "Send_volume", "[]");
	ck_assert_uint_ne(above_status(&t, ":dfg_create([],\"\",\"Send_volume\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":dfg_delete([])"), STATUS_OK);
	create("[]", "", "Send_volume", "[]");
}

TEST(dfg_get_info_lists_refusals_of_hosts)
{
	in_a.refused = "p_1_a00000";
	measure("[]", "", "Send_volume", "[]");
	ck_assert_ptr_nonnull(strstr(entry_of(ask("dfg_get_info", ",16"), 1, 0)->value,
				     "[\"p_1_a00000\",\"nobody may look at it\",32]"));
}

TEST(a_host_that_does_not_confirm_holds_up_no_start)
{
	const struct reply *r;
	char request[64];

	in_a.no_ack = true;
	create("[]", "", "Send_volume", "[]");
	snprintf(request, sizeof(request), ":dfg_start([%s])", dfg);
	r = above_ask_for(&t, request, 0, 3 * SEC);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
}

BARE_TEST(a_measurement_may_be_made_before_there_is_anything)
{
	world_open(&w);
	more = 0;
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	measured_open(&in_a, &a, told);
	below_report(&a, 1, "h1");
	above_attach_all(&t);
	world_run(&w, SEC);
	ck_assert_uint_eq(in_a.loads, 1);
	world_run(&w, in_a.start + in_a.every - world_wall(&w));
	measured_send(&in_a, 1, in_a.start + in_a.every);
	ck_assert_double_eq(value_at(0).value, 210);
	above_close(&t);
	below_close(&a);
	measured_clear(&in_a);
	world_done(&w);
}

TEST(a_child_speaks_for_its_own_links_only)
{
	int64_t at;

	measure("[]", "", "Send_volume", "[\"every_ms\",10000]");
	at = in_a.start + in_a.every;
	world_run(&w, at - world_wall(&w));
	/* Site a sends values of the site of b. */
	in_b.b = &a;
	measured_send(&in_b, 1, at);
	in_b.b = &b;
	ck_assert_uint_eq(events(), 0);
	measured_send(&in_a, 1, at);
	world_run(&w, 2 * SEC);
	ck_assert_int_eq(value_at(0).k, 4);
}

TEST(of_a_running_one_everything_can_be_seen)
{
	const char *v;

	measure("[n_1]", "", "Send_volume", "[\"mode\",\"last\",\"by\",\"node\"]");
	v = entry_of(ask("dfg_get_info", ",255"), 1, 0)->value;
	ck_assert_ptr_nonnull(
		strstr(v, "[\"Send_volume\",\"B\",\"running\",\"last\",1000,0,\"node\",0],[n_1],"));
	ck_assert_ptr_nonnull(
		strstr(v, "[\"n_1\",\"n_1\",0,\"input\",\"Send_volume\",\"p_1_a00000\",\"read\","));
	ck_assert_ptr_nonnull(strstr(v, "[\"\",\"mainsm\","));
}

SUITE_WITH("measure", open_hosts, close_hosts)
