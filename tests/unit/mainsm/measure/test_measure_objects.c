/* SPDX-License-Identifier: Apache-2.0 */
/* Objects added to and removed from a measurement: the request determines the measured ones. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_hosts.h"

static char csr[CSR_TOKEN_BYTES];

/* Creates and starts a measurement of these objects ("" = all). */
static void measure(const char *objects, const char *metric)
{
	char request[160];

	open_hosts();
	create(objects, "", metric, "[\"every_ms\",1000]");
	snprintf(request, sizeof(request), "dfg_has_read([%s]): print([$values])", dfg);
	above_arm(&t, request, csr);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
}

/* Checks the sum of the next read, and the number of processes in it. */
static void reads(double sum, int64_t processes)
{
	struct measured *in = in_a.n ? &in_a : &in_b;
	int64_t read = (world_wall(&w) - in->start) / in->every + 1,
		at = in->start + read * in->every, k, n;
	struct omis_values *v = NULL;
	const struct omis_value *f;
	const char *text;
	double value;

	world_run(&w, at - world_wall(&w));
	if (in_a.n)
		measured_send(&in_a, read, at);
	if (in_b.n)
		measured_send(&in_b, read, at);
	text = entry_of(above_last(&t, STATUS_CSR_TRIGGERED), 1, 0)->value;
	ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
	f = v->v[1].list.v; /* after the number of values */
	ck_assert(omis_value_double(&f[2], &value) && omis_value_i64(&f[7], &k) &&
		  omis_value_i64(&f[8], &n));
	ck_assert_msg(value == sum && k == processes && n == processes, "%s", text);
	omis_values_free(v);
}

static void is_done(const char *service, const char *objects)
{
	const struct reply *r = ask(service, objects);

	ck_assert_msg(reply_status(r) == STATUS_OK, "%s%s: %s", service, objects,
		      r->entry[0].value);
}

static void is_refused(const char *service, const char *objects, const char *words)
{
	const struct reply *r = ask(service, objects);

	ck_assert_uint_ne(reply_status(r), STATUS_OK);
	ck_assert_msg(strstr(r->entry[0].value, words), "%s%s: %s", service, objects,
		      r->entry[0].value);
}

/* The objects that were named, as dfg_get_info() has them. */
static void names(const char *list)
{
	ck_assert_str_eq(entry_of(ask("dfg_get_info", ",2"), 1, 0)->value, list);
}

TEST(adding_objects_to_all_changes_nothing)
{
	measure("[]", "Send_volume");
	reads(2040, 8);
	is_done("dfg_add", ",[p_1_a00000]");
	is_done("dfg_add", ",[n_3,s_1]");
	reads(2040, 8);
	names("[]");
	close_hosts();
}

TEST(a_process_of_all_is_taken_away_and_given_back)
{
	measure("[]", "Send_volume");
	is_done("dfg_remove", ",[p_1_a00000]");
	names("[[p_1_a00000]]");
	reads(1940, 7);
	is_refused("dfg_remove", ",[p_1_a00000]", "is not among");
	is_done("dfg_add", ",[p_1_a00000]");
	reads(2040, 8);
	names("[]");
	close_hosts();
}

TEST(a_process_of_a_named_node_is_taken_away_and_given_back)
{
	measure("[n_1,n_3]", "Send_volume");
	reads(820, 4);
	is_done("dfg_remove", ",[p_1_a00000]");
	names("[n_1,n_3,[p_1_a00000]]");
	reads(720, 3);
	is_done("dfg_add", ",[n_1]");
	names("[n_3,n_1]");
	reads(820, 4);
	close_hosts();
}

TEST(a_removed_node_of_a_named_site_takes_its_objects_with_it)
{
	measure("[s_1,p_3_a00000]", "Send_volume");
	reads(920, 5);
	is_done("dfg_remove", ",[p_2_a00000,n_2]");
	names("[s_1,p_3_a00000,[n_2]]");
	reads(510, 3);
	is_done("dfg_add", ",[p_2_b00000]");
	reads(720, 4);
	is_done("dfg_remove", ",[s_1]");
	names("[p_3_a00000]");
	reads(300, 1);
	close_hosts();
}

TEST(refused_dfg_remove_changes_nothing)
{
	measure("[n_1]", "Send_volume");
	is_refused("dfg_remove", ",[p_1_a00000,p_1_b00000]", "nothing would be left");
	is_refused("dfg_remove", ",[n_1]", "nothing would be left");
	is_refused("dfg_remove", ",[n_3]", "n_3 is not among");
	is_refused("dfg_remove", ",[p_1_a00000,p_9_zzzzzz]", "no such object");
	names("[n_1]");
	reads(210, 2);
	close_hosts();
}

TEST(a_process_is_not_taken_away_from_what_is_measured_of_nodes)
{
	open_hosts();
	create("[]", "", "Node_load", "[]");
	is_refused("dfg_remove", ",[p_1_a00000]", "is a Node: p_1_a00000 is none");
	names("[]");
	close_hosts();
}

/* With or without a process: it is refused at once, with the reason. */
TEST(dfg_create_refuses_splits_that_no_process_supports)
{
	static const struct {
		const char *call, *words;
	} bad[] = {
		{ ":dfg_create([],\"\",\"MPI_Waitall_count\",[\"by\",\"partner\"])",
		  "its calls name none" },
		{ ":dfg_create([],\"\",\"Barrier_count\",[],[\"partners\",[p_1_a00000]])",
		  "its calls name none" },
		{ ":dfg_create([],\"\",\"Wait_delay\",[\"by\",\"partner\"],[\"regions\",[\"a\"]])",
		  "not split by partners and regions at once" },
		{ ":dfg_create([],\"\",\"Node_load\",[\"by\",\"region\"])",
		  "does not measure calls" },
	};

	open_hosts();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct reply *r = above_ask(&t, bad[i].call);

		ck_assert_uint_eq(reply_status(r), STATUS_UNSUPPORTED_SERVICE);
		ck_assert_msg(strstr(r->entry[0].value, bad[i].words), "%s: %s", bad[i].call,
			      r->entry[0].value);
	}
	close_hosts();
}

/* Only neighbours communicate. */
static double told_to_some(const char *process)
{
	return str_eq(process, "p_1_a00000") || str_eq(process, "p_4_b00000") ? 7 : 0;
}

/* A matrix of eight by eight, of which two rows are not 0. */
TEST(pairs_with_value_0_are_sent_together_and_keep_their_places)
{
	struct omis_values *v = NULL;
	char request[128];
	const char *text;

	open_hosts();
	in_a.told = in_b.told = told_to_some;
	create("[]", "", "Send_volume", "[\"every_ms\",0,\"by\",\"process,partner\"]");
	snprintf(request, sizeof(request), ":dfg_start([%s]) dfg_read([%s])", dfg, dfg);
	above_send(&t, request, 0);
	world_run(&w, 20 * MS);
	measured_send(&in_a, 1, in_a.read_at);
	measured_send(&in_b, 1, in_b.read_at);
	ck_assert_uint_eq(in_a.nbatch, 8 + 1);
	ck_assert_uint_eq(in_b.nbatch, 8 + 1);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	text = entry_of(t.last, 2, 0)->value;
	ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
	ck_assert_uint_eq(v->v[2].list.n, 64);
	for (size_t i = 0; i < 64; i++) {
		const struct omis_value *f = v->v[2].list.v[i].list.v;
		int64_t k, n;
		double value;

		ck_assert(omis_value_double(&f[2], &value) && omis_value_i64(&f[7], &k) &&
			  omis_value_i64(&f[8], &n));
		ck_assert_double_eq(value, told_to_some(f[0].s.p));
		ck_assert(k == 1 && n == 1 && !f[9].s.n);
	}
	omis_values_free(v);
	close_hosts();
}

SUITE("mainsm measure objects")
