/* SPDX-License-Identifier: Apache-2.0 */
/* Links that are 0 have one batch together: all of them come out of it, and no other. */
#include "common/flow/batch/batch.h"
#include "common/flow/batch/rest.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define LINKS 40
#define READ 5
#define AT INT64_C(1700000000000000000)

static char name[LINKS][16];
static struct flow_rest rest;
static struct flow_batch sent[LINKS];
static struct flow_token sent_token[LINKS];
static size_t nsent;
/* At the receiver: the number of its links, and the tokens that each received. */
static size_t nknown;
static unsigned taken[LINKS];
static double value[LINKS];

static void set_up(void)
{
	for (int i = 0; i < LINKS; i++)
		snprintf(name[i], sizeof(name[i]), "link%d", i);
	flow_rest_clear(&rest);
	memset(taken, 0, sizeof(taken));
	nknown = LINKS;
	nsent = 0;
}

static void clean_up(void)
{
}

static void send(void *arg, const struct flow_batch *b)
{
	sent_token[nsent] = b->t[0];
	sent[nsent] = *b;
	sent[nsent].t = &sent_token[nsent];
	nsent++;
}

/* Adds data of a link to the rest; data that the rest does not take are sent by themselves. */
static void report(size_t i, double v, uint32_t flags)
{
	struct flow_token t = flow_token_make(READ, v, 0, AT + (nsec_t)i);
	const struct flow_batch b = { .measurement = 7,
				      .link = name[i],
				      .read = READ,
				      .domain = FLOW_READ,
				      .n = 1,
				      .t = &t };

	t.flags |= flags;
	if (!flow_rest_take(&rest, &b))
		send(NULL, &b);
}

static void report_zeros(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		report(i, 0, 0);
}

static size_t place_of(const char *link)
{
	size_t i = 0;

	while (strcmp(name[i], link) != 0)
		i++;
	return i;
}

static const char *link_at(void *arg, size_t i)
{
	return i < nknown ? name[i] : NULL;
}

static bool has_reported(void *arg, const char *link, int64_t read)
{
	ck_assert_int_eq(read, READ);
	return taken[place_of(link)];
}

static void take(void *arg, const struct flow_batch *b)
{
	size_t i = place_of(b->link);

	ck_assert_uint_eq(b->rest, 0);
	ck_assert_int_eq(b->t[0].key, READ);
	taken[i]++;
	value[i] = b->t[0].value;
}

/* Encodes a batch, decodes it at the receiver, and returns the result there. */
static int deliver(const struct flow_batch *b)
{
	static const struct flow_rest_links links = { link_at, has_reported, take, NULL };
	struct flow_batch_room room = { 0 };
	struct buf bytes = BUF_INIT(4096);
	struct flow_batch out;
	int rc = 0;

	flow_batch_encode(&bytes, b);
	ck_assert_int_eq(flow_batch_decode(&room, bytes.p, bytes.n, &out, NULL), 0);
	ck_assert_uint_eq(out.rest, b->rest);
	if (out.rest)
		rc = flow_rest_apart(&out, &links);
	else
		take(NULL, &out);
	flow_batch_room_done(&room);
	buf_done(&bytes);
	return rc;
}

static void deliver_all(void)
{
	flow_rest_give(&rest, send, NULL);
	for (size_t i = 0; i < nsent; i++)
		ck_assert_int_eq(deliver(&sent[i]), 0);
}

TEST(many_zeros_are_one_batch_and_are_read_separately)
{
	report_zeros(0, 10);
	report(10, 3, 0);
	report_zeros(11, LINKS);
	deliver_all();
	ck_assert_uint_eq(nsent, 2);
	ck_assert_str_eq(sent[1].link, name[0]);
	ck_assert_uint_eq(sent[1].rest, LINKS - 1);
	ck_assert_uint_eq(sent[1].measurement, 7);
	for (size_t i = 0; i < LINKS; i++) {
		ck_assert_uint_eq(taken[i], 1);
		ck_assert_double_eq(value[i], i == 10 ? 3 : 0);
	}
	ck_assert_int_eq(sent_token[1].time, AT + (LINKS - 1) / 2);
	ck_assert_int_eq(sent_token[1].oldest, AT);
	ck_assert_int_eq(sent_token[1].newest, AT + LINKS - 1);
}

TEST(few_zeros_are_sent_by_their_names)
{
	nknown = FLOW_REST_MIN - 1;
	report_zeros(0, nknown);
	deliver_all();
	ck_assert_uint_eq(nsent, FLOW_REST_MIN - 1);
	ck_assert_uint_eq(sent[3].rest, 0);
	ck_assert_int_eq(sent_token[3].time, AT + 3);
	for (size_t i = 0; i < nknown; i++)
		ck_assert_uint_eq(taken[i], 1);
}

TEST(a_link_with_more_than_value_0_is_sent_separately)
{
	struct flow_token t = flow_token_make(READ, 0, 0.5, AT);
	struct flow_batch b = {
		.measurement = 7, .link = "x", .read = READ, .domain = FLOW_READ, .n = 1, .t = &t
	};

	ck_assert(!flow_rest_take(&rest, &b)); /* a bound */
	t = flow_token_missing(READ, AT, 1);
	ck_assert(!flow_rest_take(&rest, &b)); /* no value */
	t = flow_token_make(READ, 0, 0, AT);
	t.flags = FLOW_STALE;
	ck_assert(!flow_rest_take(&rest, &b));
	t.flags = 0;
	t.n = 2;
	ck_assert(!flow_rest_take(&rest, &b)); /* of two, of which one is missing */
	t.n = 1;
	b.lost = 1;
	ck_assert(!flow_rest_take(&rest, &b));
	b.lost = 0;
	b.domain = FLOW_VT;
	ck_assert(!flow_rest_take(&rest, &b));
	b.domain = FLOW_READ;
	ck_assert(flow_rest_take(&rest, &b));
}

/* A receiver with other links counts none of them as 0. */
TEST(a_receiver_with_other_links_takes_none)
{
	report_zeros(0, LINKS);
	flow_rest_give(&rest, send, NULL);
	ck_assert_uint_eq(nsent, 1);
	nknown = LINKS - 1;
	ck_assert_int_eq(deliver(&sent[0]), -ERR_INVALID); /* its objects have changed */
	nknown = LINKS;
	taken[7] = 1;
	ck_assert_int_eq(deliver(&sent[0]), -ERR_INVALID); /* one has reported already */
	taken[7] = 0;
	snprintf(name[7], sizeof(name[7]), "other");
	ck_assert_int_eq(deliver(&sent[0]), -ERR_INVALID);
	for (size_t i = 0; i < LINKS; i++)
		ck_assert_uint_eq(taken[i], 0);
	snprintf(name[7], sizeof(name[7]), "link7");
	ck_assert_int_eq(deliver(&sent[0]), 0);
	ck_assert_int_eq(deliver(&sent[0]), -ERR_INVALID); /* repeated */
	for (size_t i = 0; i < LINKS; i++)
		ck_assert_uint_eq(taken[i], 1);
}

TEST(a_frame_that_was_lost_is_not_zero)
{
	report_zeros(0, 20);
	report(20, 3, 0);
	report_zeros(21, LINKS);
	flow_rest_give(&rest, send, NULL);
	ck_assert_uint_eq(nsent, 2);
	ck_assert_int_eq(deliver(&sent[1]), -ERR_INVALID);
	ck_assert_uint_eq(taken[20] + taken[0], 0);
}

SUITE_WITH("rest", set_up, clean_up)
