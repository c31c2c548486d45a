/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of mainsm: each grows with its events, by the right number. */
#include "mainsm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_hosts.h"

static int64_t counter(const char *name)
{
	struct buf status = BUF_INIT(FRAME_MAX_BYTES);
	char wanted[64];
	const char *at;
	int64_t n;

	snprintf(wanted, sizeof(wanted), "[\"%s\",", name);
	mainsm_status(w.m, &status);
	at = strstr(buf_str(&status), wanted);
	ck_assert_msg(at != NULL, "no %s in %s", name, buf_str(&status));
	n = strtoll(at + strlen(wanted), NULL, 10);
	buf_done(&status);
	return n;
}

#define IS(name, n) ck_assert_int_eq(counter(name), n)

TEST(connections_are_counted)
{
	IS("tools", 1);
	IS("branches", 2);
	IS("sites", 2);
	IS("nodes", 4);
	IS("processes", 8);
	IS("threads", 8);
	IS("accepted", 3);
	IS("refused", 0);
	IS("certificates", 0);
	above_close(&t);
	t.link = NULL;
	world_run(&w, 100 * MS);
	IS("tools", 0);
	link_close(b.link, "a cut");
	b.link = NULL;
	world_run(&w, 10 * MS);
	IS("branches", 1);
	IS("sites", 2);
}

TEST(requests_are_counted)
{
	a.is_mute = true;
	above_send(&t, ":node_get_info([n_1,n_3],1)", 200 * MS);
	world_run(&w, 10 * MS);
	IS("requests", 1);
	IS("requests_waiting", 0);
	IS("stray_replies", 0);
	world_run(&w, 500 * MS);
	IS("requests", 0);
	below_reply(&a, "n_1", "1");
	world_run(&w, 10 * MS);
	IS("stray_replies", 1);
}

TEST(conditional_requests_are_counted)
{
	char csr[CSR_TOKEN_BYTES], request[64];

	above_define(&t, LIB_CALL " print([$proc])", csr);
	IS("csrs", 1);
	IS("csrs_enabled", 0);
	snprintf(request, sizeof(request), ":csr_enable([%s])", csr);
	above_send(&t, request, 0);
	world_run(&w, 100 * MS);
	IS("csrs", 1);
	IS("csrs_enabled", 1);
	IS("csrs_fired", 0);
	below_trigger(&a, "p_1_a00000", "t_1_a00000", "7");
	below_trigger(&b, "p_3_a00000", "t_3_a00000", "7");
	IS("csrs_fired", 2);
	IS("stray_events", 0);
	str_copy(a.csr, sizeof(a.csr), "c_99");
	below_trigger(&a, "p_1_a00000", "t_1_a00000", "7");
	IS("csrs_fired", 2);
	IS("stray_events", 1);
	snprintf(request, sizeof(request), ":csr_delete([%s])", csr);
	above_send(&t, request, 0);
	world_run(&w, 100 * MS);
	IS("csrs", 0);
	IS("csrs_enabled", 0);
	IS("csrs_suspended", 0);
}

/*
 * Runs until the end of interval `read`, where the sites send their values. NULL: that site sends
 * nothing.
 */
static void read_of(struct measured *first, struct measured *second, int64_t read)
{
	int64_t at = in_a.start + read * in_a.every;
	int64_t now = world_wall(&w);

	if (at > now)
		world_run(&w, at - now);
	if (first)
		measured_send(first, read, at);
	if (second)
		measured_send(second, read, at);
}

TEST(measurements_are_counted)
{
	IS("dfgs", 0);
	create("[]", "", "Send_volume", "[\"every_ms\",10000]");
	IS("dfgs", 1);
	IS("dfgs_running", 0);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
	IS("dfgs_running", 1);
	IS("dfg_plans", 2); /* for its check and for its start */
	IS("dfg_reads", 0);
	IS("dfg_frames", 0);
	IS("dfg_bytes", 0);
	read_of(&in_a, &in_b, 1);
	IS("dfg_reads", 1);
	IS("dfg_reads_late", 0);
	IS("dfg_frames", 2);
	ck_assert_int_gt(counter("dfg_bytes"), 40);
	ck_assert_int_lt(counter("dfg_bytes"), 400);
	IS("dfg_strays", 0);
	read_of(&in_a, NULL, 2);
	world_run(&w, 2 * SEC);
	IS("dfg_reads", 2);
	IS("dfg_reads_late", 1);
	IS("dfg_frames", 3);
	ck_assert_uint_eq(reply_status(ask("dfg_stop", "")), STATUS_OK);
	world_run(&w, 3 * SEC);
	IS("dfgs", 1);
	IS("dfgs_running", 0);
	ck_assert_uint_eq(reply_status(ask("dfg_delete", "")), STATUS_OK);
	world_run(&w, SEC);
	IS("dfgs", 0);
	IS("dfg_strays", 0);
	measured_send(&in_b, 3, in_a.start + 3 * in_a.every);
	IS("dfg_strays", 1);
	IS("dfg_frames", 3);
}

TEST(a_forged_object_is_counted)
{
	IS("forged", 0);
	below_report(&a, 3, "h3"); /* it is of site b */
	ck_assert_int_gt(counter("forged"), 0);
	IS("nodes", 4);
}

TEST(the_dump_names_each_peer)
{
	struct buf b1 = BUF_INIT(FRAME_MAX_BYTES);
	const char *text;

	mainsm_dump(w.m, &b1);
	text = buf_str(&b1);
	ck_assert_ptr_nonnull(strstr(text, " what=s_1 queued=0 "));
	ck_assert_ptr_nonnull(strstr(text, " what=s_2 queued=0 "));
	ck_assert_ptr_nonnull(strstr(text, " what=tool queued=0 "));
	ck_assert_ptr_null(strstr(text, "what=passing"));
	ck_assert_ptr_nonnull(strstr(text, "\nstatus=\"mainsm\","));
	ck_assert_int_eq(text[b1.n - 1], '\n');
	buf_done(&b1);
}

SUITE_WITH("mainsm status", open_hosts, close_hosts)
