/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements that end by a rule in their graph when they have enough values. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_hosts.h"

/* A metric of the first parameter of each event, over all processes. */
#define SEEN(fold)                                                                         \
	"Seen(Process[] procs, TimeInterval t) { PROBE e(Process, VirtualTime, Value v); " \
	"Process p; VirtualTime vt; Value[][] x; x[p][vt] = v AT e(p, vt); RETURN " fold   \
	"x[p][vt] WHERE p IN procs AND x[p][vt].time IN t); }"

static char csr[CSR_TOKEN_BYTES];

static unsigned two(const char *process)
{
	return 2;
}

static unsigned two_of_most(const char *process)
{
	return str_eq(process, "p_1_b00000") ? 0 : 2;
}

static void begin(const char *text, const char *options, const char *action,
		  unsigned (*events)(const char *))
{
	char request[160];

	open_hosts();
	in_a.events = in_b.events = events;
	create("[]", text, "Seen", options);
	snprintf(request, sizeof(request), "dfg_has_read([%s]): %s", dfg, action);
	above_arm(&t, request, csr);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
}

/* Runs until the end of interval `read`, where both sites send their values. */
static void read_both(int64_t read)
{
	int64_t at = in_a.start + read * in_a.every, now = world_wall(&w);

	if (at > now)
		world_run(&w, at - now);
	measured_send(&in_a, read, at);
	measured_send(&in_b, read, at);
}

/* The output of action `number` of the list at the last event. */
static const char *printed(uint32_t number)
{
	const struct reply *r = above_last(&t, STATUS_CSR_TRIGGERED);

	ck_assert_ptr_nonnull(r);
	return entry_of(r, number, 0)->value;
}

static const char *last(void)
{
	return printed(1);
}

static const char *info(const char *bit)
{
	return entry_of(ask("dfg_get_info", bit), 1, 0)->value;
}

/* Eight processes with two events in each interval; 100, 101, 110, 111, 200 ... on four hosts. */
TEST(a_reached_stop_rule_ends_the_measurement_on_all_hosts)
{
	begin(SEEN("MEAN("), "[\"until\",\"n >= 40\"]", "print([$read,$enough,$values])", two);
	for (int64_t read = 1; read <= 3; read++) {
		ck_assert_uint_eq(in_a.ends + in_b.ends, 0);
		read_both(read);
		ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), read);
		ck_assert_msg(strstr(last(), read < 3 ? ",0,[\"\"," : "3,1,[\"\",3,255.5,0.0,"),
			      "%s", last());
	}
	world_run(&w, 5 * SEC);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_eq(in_b.ends, 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 3);
	ck_assert_ptr_nonnull(strstr(info(",1"), "\"stopped\""));
	ck_assert_msg(str_has_prefix(info(",256"), "[\"n >= 40\",1,[\"\",\"\",48,255.5,"), "%s",
		      info(",256"));
	/* Each process has separate values: one value predicts the next. */
	ck_assert_msg(strstr(info(",256"), ",1,1]]"), "%s", info(",256"));
	close_hosts();
}

TEST(a_waiting_request_gets_the_last_read_only)
{
	begin(SEEN("CI(0.95, "), "[\"until\",\"ci(0.95) < 50%\"]",
	      "omig_if($enough,\"==\",1) print([$read,$values])", two);
	for (int64_t read = 1; read <= 2; read++) {
		ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
		read_both(read);
	}
	/* 30 values are needed, and have arrived */
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
	ck_assert_msg(strstr(printed(2), "2,2,[\"\",2,4"), "%s", printed(2));
	ck_assert_uint_eq(in_a.ends, 1);
	close_hosts();
}

TEST(each_object_has_its_own_sample_and_an_ended_one_no_delay)
{
	begin(SEEN("STDEV("), "[\"until\",\"n >= 4\",\"by\",\"process\"]", "print([$read,$enough])",
	      two_of_most);
	for (int64_t read = 1; read <= 3; read++)
		read_both(read);
	ck_assert_msg(str_eq(last(), "2,3,0"), "%s", last());
	ck_assert_ptr_nonnull(strstr(info(",256"), "[p_1_a00000,\"\",6,"));
	below_report_end(&a, 1);
	world_run(&w, 500 * MS);
	read_both(4);
	ck_assert_msg(str_eq(last(), "2,4,1"), "%s", last());
	ck_assert_uint_eq(in_b.ends, 1);
	close_hosts();
}

TEST(started_again_it_counts_again)
{
	begin(SEEN("MEAN("), "[\"until\",\"n >= 10\"]", "print([$read,$enough])", two);
	read_both(1);
	ck_assert_msg(str_eq(last(), "2,1,1"), "%s", last());
	in_a.events = in_b.events = two_of_most;
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
	ck_assert_msg(str_eq(info(",256"), "[\"n >= 10\",0]"), "%s", info(",256"));
	read_both(1);
	ck_assert_ptr_nonnull(strstr(info(",256"), "[\"n >= 10\",1,[\"\",\"\",14,"));
	close_hosts();
}

TEST(until_without_a_mean_is_refused_before_any_process)
{
	static const struct {
		const char *text, *metric, *options, *words;
	} bad[] = {
		{ "", "Send_volume", "[\"until\",\"n >= 4\"]", "until is of what returns MEAN" },
		{ SEEN("MAX("), "Seen", "[\"until\",\"n >= 4\"]", "until is of what returns MEAN" },
		{ SEEN("2 * MEAN("), "Seen", "[\"until\",\"n >= 4\"]",
		  "until is of what returns MEAN" },
		{ SEEN("MEAN("), "Seen", "[\"until\",\"n >= 4\",\"mode\",\"last\"]",
		  "until is of what returns MEAN" },
		{ SEEN("MEAN("), "Seen", "[\"until\",\"n > 4\"]",
		  "not a value of the option until" },
		{ SEEN("MEAN("), "Seen", "[\"until\",\"ci(0.9, batches) < 1\"]",
		  "not a value of the option until" },
	};
	char request[1024];

	world_open(&w);
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct reply *r;

		snprintf(request, sizeof(request), ":dfg_create([],\"%s\",\"%s\",%s)", bad[i].text,
			 bad[i].metric, bad[i].options);
		r = above_ask(&t, request);
		ck_assert_msg(status_is_error(reply_status(r)), "%zu", i);
		ck_assert_msg(strstr(r->entry[0].value, bad[i].words), "%zu: %s", i,
			      r->entry[0].value);
	}
	above_close(&t);
	world_done(&w);
}

SUITE("measure_until")
