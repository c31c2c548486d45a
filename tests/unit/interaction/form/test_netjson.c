/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON form: read back as written, and refused with line and column. */
#include "interaction/form/netjson.h"
#include "interaction/form/netput.h"
#include "interaction/netanalysis.h"
#include "tests/suite.h"
#include "tests/unit/interaction/made.h"

#define ROUNDS 500

struct got {
	char name[64];
	size_t networks, events;
	int64_t response;
	uint32_t node;
	char nodes[4][16];
	size_t nnode;
	struct buf again; /* of the network, as JSON */
};

static int on_network(void *arg, const char *name, struct network *w, struct err *e)
{
	struct got *g = arg;
	struct json j;
	int rc = network_build(w, e);

	if (rc)
		return rc;
	snprintf(g->name, sizeof(g->name), "%s", name);
	g->networks++;
	g->response = netpath_response(w);
	buf_clear(&g->again);
	json_init(&j, &g->again);
	netput_network(&j, name, w, NULL);
	return json_end(&j);
}

static int on_event(void *arg, const struct network_event *ev, struct err *e)
{
	struct got *g = arg;

	(void)e;
	g->events++;
	g->node = ev->node;
	return 0;
}

static int on_node(void *arg, const char *name, uint32_t *out, struct err *e)
{
	struct got *g = arg;

	(void)e;
	for (*out = 0; *out < g->nnode; ++*out)
		if (!strcmp(g->nodes[*out], name))
			return 0;
	ck_assert_uint_lt(g->nnode, 4);
	snprintf(g->nodes[g->nnode++], sizeof(g->nodes[0]), "%s", name);
	return 0;
}

static int read_text(const char *text, size_t n, struct got *g, struct err *e)
{
	struct netjson_taker to = { on_network, on_event, on_node, NULL, g };
	struct netjson_report report = { 0 };
	struct netuse *use = netuse_new();
	struct jsonread r;
	int rc;

	ck_assert_ptr_nonnull(use);
	buf_init(&g->again, 1u << 20);
	jsonread_init_bytes(&r, text, n);
	rc = netjson_read(&r, use, &to, &report, e);
	jsonread_done(&r);
	netuse_free(use);
	return rc;
}

TEST(a_network_is_read_back_as_written)
{
	static struct made m;
	struct rng r;

	rng_init(&r, suite_seed(2001));
	for (int round = 0; round < ROUNDS; round++) {
		struct netuse *u = netuse_new();
		struct buf text = BUF_INIT(1u << 20);
		struct got g = { .networks = 0 };
		struct network w;
		struct err e = { 0 };
		struct json j;

		made_objects(u);
		network_init(&w, u);
		made_draw(&m, &r, 40, 8);
		made_add_mixed(&w, &m, &r);
		ck_assert(!network_build(&w, &e));
		json_init(&j, &text);
		netput_network(&j, "drawn", &w, NULL);
		ck_assert(!json_end(&j));
		ck_assert_msg(!read_text(buf_str(&text), text.n, &g, &e), "%s", e.text);
		ck_assert_uint_eq(g.networks, 1);
		ck_assert_str_eq(g.name, "drawn");
		ck_assert_int_eq(g.response, netpath_response(&w));
		ck_assert_str_eq(buf_str(&g.again), buf_str(&text));
		buf_done(&g.again);
		buf_done(&text);
		network_done(&w);
		netuse_free(u);
	}
}

TEST(lists_by_node_pass_on_their_events)
{
	static const char text[] =
		"[{\"node\":\"a\",\"events\":[{\"v\":\"x\",\"t\":1,\"ev\":\"source\",\"st\":1}]},\n"
		"{\"node\":\"b\",\"events\":[{\"v\":\"y\",\"t\":2,\"ev\":\"sink\",\"st\":\"1\",\"new\":null}]}]";
	struct got g = { .networks = 0 };
	struct err e = { 0 };

	ck_assert_msg(!read_text(text, strlen(text), &g, &e), "%s", e.text);
	ck_assert_uint_eq(g.events, 2);
	ck_assert_uint_eq(g.networks, 0);
	ck_assert_uint_eq(g.nnode, 2);
	ck_assert_uint_eq(g.node, 1);
	buf_done(&g.again);
}

#define EVENTS(text) "{\"network\":{\"events\":[\n" text "]}}"
#define A "{\"v\":\"a\",\"t\":0,\"ev\":\"source\",\"st\":1}"

static const struct {
	const char *text;
	unsigned line, col;
	const char *words;
} wrong[] = {
	{ "", 1, 1, "no interaction network" },
	{ "{}", 1, 3, "no interaction network" },
	{ "3", 1, 1, "is an object" },
	{ "{\"network\":[]}", 1, 12, "a network is expected" },
	{ EVENTS("3"), 2, 1, "an event is an object" },
	{ EVENTS("{}"), 2, 1, "needs \"v\"" },
	{ EVENTS("{\"v\":\"\"}"), 2, 6, "a string of 1 to 255" },
	{ EVENTS("{\"t\":1.5}"), 2, 6, "not an integer" },
	{ EVENTS("{\"t\":9223372036854775808}"), 2, 6, "not an integer of 64 bits" },
	{ EVENTS("{\"t\":1,\"t\":1}"), 2, 8, "there twice" },
	{ EVENTS("{\"ev\":\"spoon\"}"), 2, 7, "source, fork, join" },
	{ EVENTS("{\"st\":-1}"), 2, 7, "from 0 to 2^64" },
	{ EVENTS("{\"st\":18446744073709551616}"), 2, 7, "from 0 to 2^64" },
	{ EVENTS("{\"via\":\"pigeon\"}"), 2, 8, "thread or message" },
	{ EVENTS("{\"blocks\":1}"), 2, 11, "true or false" },
	{ EVENTS("{\"use\":[\"db\"]}"), 2, 9, "a list like" },
	{ EVENTS("{\"use\":[[\"start\",\"db\"]]}"), 2, 10, "\"begin\" or \"end\"" },
	{ EVENTS("{\"use\":[[\"begin\",\"db\",1]]}"), 2, 23, "the end of" },
	{ EVENTS("{\"v\":\"f\",\"t\":1,\"ev\":\"fork\",\"st\":1}"), 2, 1, "a fork needs" },
	{ EVENTS("{\"v\":\"f\",\"t\":1,\"ev\":\"join\",\"st\":1}"), 2, 1, "a join needs" },
	{ EVENTS("{\"v\":\"f\",\"t\":1,\"ev\":\"sink\",\"st\":1,\"new\":2}"), 2, 1, "is of forks" },
	{ EVENTS(A ",\n{\"v\":\"a\",\"t\":1,\"ev\":\"sink\",\"st\":1}"), 3, 1, "there twice" },
	{ EVENTS(A ",\n{\"v\":\"b\",\"t\":1,\"ev\":\"source\",\"st\":2}"), 3, 1, "second source" },
	{ "{\"network\":{\"objects\":{\"a\":\"mine\"}}}", 1, 28, "local or inherit" },
	{ "{\"network\":{\"states\":{\"a\":[]}}}", 1, 28, "objects are needed" },
	{ "{\"network\":{\"states\":{\"a\":[\"x\"],\"a\":[\"y\"]}}}", 1, 41, "declared twice" },
	{ "{\"network\":{\"member\":[\"x\"]}}", 1, 23, "list of lists" },
	{ "{\"network\":{\"network\":{}}}", 1, 13, "a network in a network" },
	{ "{\"events\":[],\"node\":\"a\"}", 1, 14, "follows its" },
	{ "{\"events\":[],\"events\":[]}", 1, 14, "there twice" },
};

TEST_EACH(wrong_json_is_refused_with_its_place, i, (int)ARRAY_LEN(wrong))
{
	struct got g = { .networks = 0 };
	struct err e = { 0 };

	ck_assert_int_lt(read_text(wrong[i].text, strlen(wrong[i].text), &g, &e), 0);
	ck_assert_msg(strstr(e.text, wrong[i].words), "%s", e.text);
	ck_assert_msg(e.line == wrong[i].line && e.col == wrong[i].col, "%u:%u %s", e.line, e.col,
		      e.text);
	buf_done(&g.again);
}

SUITE("interaction/form")
