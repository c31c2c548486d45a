/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a metric, the list of all measurements, and data that a site should not send. */
#include "common/base/array.h"
#include "mainsm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_values.h"

static char csr[CSR_TOKEN_BYTES];

static void start(void)
{
	char request[160];

	snprintf(request, sizeof(request),
		 "dfg_has_read([%s]): print([$dfg,$read,$values,$more,$lost])", dfg);
	above_arm(&t, request, csr);
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
}

static void read_both(int64_t read)
{
	int64_t at = in_a.start + read * in_a.every, now = world_wall(&w);

	if (at > now)
		world_run(&w, at - now);
	measured_send(&in_a, read, at);
	measured_send(&in_b, read, at);
}

TEST(a_number_is_a_parameter_of_a_metric)
{
	create("[]",
	       "Twice(Process[] p, Value f, TimeInterval t) { RETURN Send_volume(p, t) * f; }",
	       "Twice", "[\"every_ms\",1000],[\"f\",2.5]");
	start();
	read_both(1);
	ck_assert_uint_eq(events(), 1);
	ck_assert_double_eq(value_at(0).value, 2.5 * (2 * (100 + 200 + 300 + 400) + 40));
}

TEST(partners_and_regions_are_parameters_of_built_in_metrics)
{
	const struct reply *r;

	create("[p_1_a00000]", "", "Send_volume",
	       "[\"every_ms\",1000],[\"partners\",[p_3_a00000,p_2_b00000]]");
	start();
	ck_assert_uint_eq(in_a.loads, 1);
	create("[p_1_a00000]", "", "Send_volume", "[\"every_ms\",1000],[\"partners\",p_3_a00000]");
	create("[p_1_a00000]", "", "Send_volume",
	       "[\"every_ms\",1000],[\"regions\",[\"solve\",\"begin..end\"]]");
	r = ask("dfg_get_info", ",255");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
}

static const struct {
	const char *parameters, *words;
} bad[] = {
	{ "[\"f\"]", "parameters are names and values" },
	{ "[\"f\",\"two\"]", "a number is wanted for the parameter f" },
	{ "[\"f\",[2]]", "a number is wanted for the parameter f" },
	{ "[\"g\",2]", "the metric has no parameter g" },
	{ "[\"t\",2]", "the metric has no parameter t" },
	{ "[2,2]", "the metric has no parameter of that kind" },
	{ "[\"q\",\"p_1_a00000\"]", "objects are wanted for the parameter q" },
	{ "[\"q\",[p_1_a00000,3]]", "objects are wanted for the parameter q" },
	{ "[\"r\",[p_1_a00000]]", "names of regions are wanted for the parameter r" },
	{ "[\"r\",7]", "names of regions are wanted for the parameter r" },
};

TEST(a_parameter_of_another_kind_or_name_is_refused)
{
	char request[1024];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct reply *r;

		snprintf(request, sizeof(request),
			 ":dfg_create([],\"M(Process[] p, Process[] q, Region[] r, Value f, "
			 "TimeInterval t) { RETURN Send_volume(p, q, r, t) * f; }\",\"M\",[],%s)",
			 bad[i].parameters);
		r = above_ask(&t, request);
		ck_assert_msg(reply_status(r) != STATUS_OK, "%s is taken", bad[i].parameters);
		ck_assert_msg(strstr(r->entry[0].value, bad[i].words) != NULL, "%s: %s",
			      bad[i].parameters, r->entry[0].value);
	}
}

TEST(all_measurements_are_listed_with_their_owners)
{
	const struct reply *r;
	char first[CSR_TOKEN_BYTES];
	const char *text;

	r = above_ask(&t, ":dfg_list()");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	create("[]", "", "Send_volume", "[\"every_ms\",2000]");
	str_copy(first, sizeof(first), dfg);
	create("[p_1_a00000]", "", "Send_count", "[\"every_ms\",1000]");
	r = above_ask(&t, ":dfg_list()");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	text = entry_of(r, 1, 0)->value;
	ck_assert_msg(strstr(text, first) && strstr(text, dfg), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "Send_volume"));
	ck_assert_ptr_nonnull(strstr(text, "Send_count"));
	ck_assert_ptr_nonnull(strstr(text, "omig:tool-observe/"));
	ck_assert_uint_eq(reply_status(ask("dfg_delete", "")), STATUS_OK);
	text = entry_of(above_ask(&t, ":dfg_list()"), 1, 0)->value;
	ck_assert(strstr(text, first) && !strstr(text, dfg));
}

#define FIELDS 9 /* of dfg_get_info, a flag each */

/* Field number `flag` of the description, as text. It is one list. */
static const char *described(unsigned flag)
{
	static char text[16384];
	struct omis_values *v = NULL;
	char rest[16];
	const struct reply *r;

	snprintf(rest, sizeof(rest), ",%u", 1u << flag);
	r = ask("dfg_get_info", rest);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	str_copy(text, sizeof(text), entry_of(r, 1, 0)->value);
	ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
	ck_assert_uint_eq(v->n, 1);
	ck_assert_int_eq(v->v[0].kind, OMIS_LIST);
	omis_values_free(v);
	return text;
}

TEST(a_description_has_what_was_asked_for_and_what_has_come)
{
	char all[65536] = "";
	size_t n = 0;

	create("[]", "", "Send_volume",
	       "[\"every_ms\",2000,\"mode\",\"last\",\"rate\",1,\"by\",\"process\"]");
	ck_assert_ptr_nonnull(strstr(described(0), "\"new\""));
	start();
	ck_assert_str_eq(described(0),
			 "[\"Send_volume\",\"B\",\"running\",\"last\",2000,1,\"process\",0]");
	ck_assert_str_eq(described(1), "[]");
	ck_assert_int_eq(strncmp(described(2), "[2,4,8,", 7), 0); /* sites, nodes, processes */
	ck_assert_str_eq(described(4), "[]");
	read_both(1);
	ck_assert_int_eq(strncmp(described(3), "[1,", 3), 0);
	ck_assert_ptr_nonnull(strstr(described(5), "\"mainsm\""));
	ck_assert_ptr_nonnull(strstr(described(5), "p_1_a00000"));
	ck_assert_ptr_nonnull(strstr(described(5), "\"link_in\""));
	ck_assert_str_ne(described(6), "[]");
	ck_assert_str_ne(described(7), "[]");
	/* A request for all fields returns them in the order of their flags. */
	for (unsigned i = 0; i < FIELDS; i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? "," : "", described(i));
	ck_assert_str_eq(entry_of(ask("dfg_get_info", ",511"), 1, 0)->value, all);
}

TEST(a_description_has_the_troubles_of_objects_and_those_left_out)
{
	in_b.refused = "n_3";
	create("[n_1,n_3]", "", "Send_volume", "[\"every_ms\",1000]");
	start();
	world_run(&w, 100 * MS);
	ck_assert_str_eq(described(1), "[n_1,n_3]");
	ck_assert_str_eq(described(4), "[[\"n_3\",\"nobody may look at it\",32]]");
}

/* --- what a site should not send */

static void send_ack(struct fake_branch *from, uint32_t measurement, uint64_t version,
		     const char *object)
{
	const struct msg_entry entry = { .objects = object,
					 .status = STATUS_NO_PERMISSION,
					 .value = { (const uint8_t *)"no", 2 } };
	const struct msg ack = { .type = MSG_FLOW_ACK,
				 .flow_ack = { measurement, version, &entry, object ? 1 : 0 } };

	ck_assert_int_eq(link_send(from->link, &ack), 0);
	world_run(&w, 10 * MS);
}

static struct msg_entry trouble(const char *object, const char *words)
{
	return (struct msg_entry){ .objects = object,
				   .status = STATUS_NO_PERMISSION,
				   .value = { (const uint8_t *)words, strlen(words) } };
}

TEST(a_trouble_that_is_reported_again_is_one_trouble)
{
	const struct msg_entry all[] = { trouble("n_3", "a"), trouble("n_3", "a"),
					 trouble("n_3", "b"), trouble("n_4", "a"),
					 trouble("n_3", "b") };
	struct msg ack = { .type = MSG_FLOW_ACK };

	create("[]", "", "Send_volume", "[\"every_ms\",1000]");
	start();
	ack.flow_ack = (struct msg_flow_ack){ in_b.measurement, in_b.version, all, ARRAY_LEN(all) };
	ck_assert_int_eq(link_send(b.link, &ack), 0);
	world_run(&w, 10 * MS);
	ck_assert_str_eq(described(4),
			 "[[\"n_3\",\"a\",32],[\"n_3\",\"b\",32],[\"n_4\",\"a\",32]]");
	/* A later confirmation replaces the reasons. */
	ack.flow_ack.nentry = 1;
	ck_assert_int_eq(link_send(b.link, &ack), 0);
	world_run(&w, 10 * MS);
	ck_assert_str_eq(described(4), "[[\"n_3\",\"a\",32]]");
	ack.flow_ack.nentry = 0;
	ck_assert_int_eq(link_send(b.link, &ack), 0);
	world_run(&w, 10 * MS);
	ck_assert_str_eq(described(4), "[]");
}

TEST(an_ack_of_another_version_or_measurement_is_ignored)
{
	create("[]", "", "Send_volume", "[\"every_ms\",1000]");
	start();
	send_ack(&a, in_a.measurement, in_a.version + 1, "n_1");
	send_ack(&a, in_a.measurement + 1, in_a.version, "n_1");
	ck_assert_ptr_nonnull(a.link);
	read_both(1);
	ck_assert_double_eq(value_at(0).value, 2 * (100 + 200 + 300 + 400) + 40);
	ck_assert_str_eq(value_at(0).flags, "");
}

static void send_batch(struct fake_branch *from, const struct msg_flow_batch *f)
{
	const struct msg m = { .type = MSG_FLOW_BATCH, .flow_batch = *f };

	ck_assert_int_eq(link_send(from->link, &m), 0);
	world_run(&w, 10 * MS);
}

TEST(data_of_an_unknown_link_or_read_is_not_counted)
{
	struct flow_token token;
	struct flow_batch batch = {
		.link = "nonsense", .read = 1, .domain = FLOW_READ, .n = 1, .t = &token
	};
	struct msg_flow_batch f = { .read = 1, .object = "s_1", .nbatch = 1 };
	struct buf bytes = BUF_INIT(1000);
	struct bytes packed;

	create("[]", "", "Send_volume", "[\"every_ms\",1000]");
	start();
	token = flow_token_make(1, 1000000, 0, in_a.start + in_a.every);
	batch.measurement = f.measurement = in_a.measurement;
	flow_batch_encode(&bytes, &batch);
	packed = (struct bytes){ bytes.p, bytes.n };
	f.batch = &packed;
	f.time_ns = in_a.start + in_a.every;
	send_batch(&a, &f);
	ck_assert_ptr_nonnull(a.link);
	read_both(1);
	ck_assert_double_eq(value_at(0).value, 2 * (100 + 200 + 300 + 400) + 40);
	buf_done(&bytes);
}

SUITE_WITH("mainsm measure parameters", open_hosts, close_hosts)
