/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of docs/flow.md: its words, numbers, limits, its graph and its batch. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/limits.h"
#include "common/flow/batch/batch.h"
#include "common/flow/batch/batch_format.h"
#include "common/flow/batch/rest.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/value.h"
#include "proto/msg.h"
#include "tests/suite.h"

#include <stdarg.h>
#include <string.h>

#define PAGE "docs/flow.md"

static struct buf page;

static void set_up(void)
{
	struct err e = { 0 };

	buf_init(&page, 1 << 20);
	ck_assert_msg(!file_read(PAGE, page.max, 0, &page, &e), "%s", e.text);
}

static void clean_up(void)
{
	buf_done(&page);
}

static void says(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void says(const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ck_assert_msg(strstr(buf_str(&page), text) != NULL, "no \"%s\" in " PAGE, text);
}

static void mentions(const char *word)
{
	says("`%s`", word);
}

static void digest(uint32_t *crc, const char *what, int number)
{
	char row[80];
	int n = snprintf(row, sizeof(row), "%s %d;", what, number);

	*crc = hash_crc32c(*crc, row, (size_t)n);
}

/*
 * Content of FLOW_LOAD and FLOW_BATCH that a peer of another build would refuse: bits, flags, words
 * and their order.
 */
TEST(changed_formats_of_batches_have_another_version)
{
	static const struct {
		unsigned version;
		uint32_t digest;
	} is = { 6, 0x98c34d18 };
	uint32_t crc = 0;

	digest(&crc, "batch", BATCH_VERSION);
	digest(&crc, "bits", BATCH_BITS);
	digest(&crc, "token", TOKEN_BITS);
	digest(&crc, "aggregate", AGG_BITS);
	digest(&crc, "flags", FLOW_FLAGS_ALL);
	for (int i = 0; i < FLOW_NKINDS; i++)
		digest(&crc, flow_kind_name((enum flow_kind)i), i);
	for (int i = 0; i < FLOW_NOPS; i++)
		digest(&crc, flow_op_name((enum flow_op)i), i);
	for (int i = 0; i < AGG_NKINDS; i++)
		digest(&crc, agg_kind_name((enum agg_kind)i), i);
	for (int i = 0; i < FLOW_NSOURCES; i++)
		digest(&crc, flow_source_name((enum flow_source_kind)i), i);
	for (int i = FLOW_ANY; i <= FLOW_READ; i++)
		digest(&crc, flow_domain_name((enum flow_domain)i), i);
	ck_assert_uint_eq(MSG_VERSION_MAX, is.version);
	ck_assert_msg(
		crc == is.digest,
		"batches or words are not those of version %u: raise MSG_VERSION_MIN and MSG_VERSION_MAX "
		"(proto/msg.h), say in docs/protocol.md what is new, and write 0x%08x here",
		is.version, crc);
}

TEST(the_document_lists_each_kind_of_node_and_operator)
{
	for (int i = 0; i < FLOW_NKINDS; i++)
		says("\n| `%s` |", flow_kind_name((enum flow_kind)i));
	for (int i = 0; i < FLOW_NOPS; i++)
		mentions(flow_op_name((enum flow_op)i));
	for (int i = 0; i < AGG_NKINDS; i++)
		mentions(agg_kind_name((enum agg_kind)i));
	for (int i = 0; i < FLOW_NSOURCES; i++)
		mentions(flow_source_name((enum flow_source_kind)i));
	for (int i = FLOW_ANY; i <= FLOW_READ; i++)
		says("\n| `%s` |", flow_domain_name((enum flow_domain)i));
}

TEST(flags_have_their_numbers)
{
	char name[FLOW_FLAGS_TEXT_BYTES];

	for (uint32_t flag = 1; flag <= FLOW_FLAGS_ALL; flag *= 2)
		says("\n| %u | `%s` |", (unsigned)flag, flow_flags_print(name, flag));
}

#define LIMIT(name)         \
	{                   \
#name, name \
	}

TEST(limits_are_those_of_the_program)
{
	static const struct {
		const char *name;
		long long value;
	} limits[] = { LIMIT(FLOW_NODES_MAX),
		       LIMIT(FLOW_EDGES_MAX),
		       LIMIT(FLOW_INPUTS_MAX),
		       LIMIT(FLOW_DEPTH_MAX),
		       LIMIT(FLOW_EVALS_PER_EVENT_MAX),
		       LIMIT(FLOW_STATE_MAX_BYTES),
		       LIMIT(FLOW_WINDOW_MAX),
		       LIMIT(FLOW_READS_OPEN),
		       LIMIT(FLOW_REST_MIN) };

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		says("\n| %s | %lld |", limits[i].name, limits[i].value);
}

/* The text between ```KIND and ```. */
static const char *block(const char *kind, size_t *n)
{
	char fence[32];
	const char *at, *end;

	snprintf(fence, sizeof(fence), "\n```%s\n", kind);
	at = strstr(buf_str(&page), fence);
	ck_assert_msg(at != NULL, "no block %s", kind);
	at += strlen(fence);
	end = strstr(at, "\n```");
	ck_assert_ptr_nonnull(end);
	*n = (size_t)(end - at);
	return at;
}

TEST(its_graph_is_one)
{
	size_t n;
	const char *text = block("graph", &n);
	struct omis_values *v = NULL;
	struct flow_graph *g = NULL;
	struct buf again = BUF_INIT(10000);
	struct err e = { 0 };

	ck_assert_int_eq(omis_parse_values(text, n, &v, &e), 0);
	ck_assert_msg(!flow_graph_from_value(&v->v[0], &g, &e), "%s", e.text);
	flow_graph_print(&again, g);
	ck_assert_uint_eq(again.n, n);
	ck_assert(!memcmp(again.p, text, n));
	buf_done(&again);
	flow_graph_free(g);
	omis_values_free(v);
}

static void read_hex(struct buf *out, const char *text, size_t n)
{
	for (const char *s = text; s < text + n; s += strcspn(s, "\n") + 1) {
		unsigned byte;
		int used;

		for (const char *p = s; sscanf(p, " %2x%n", &byte, &used) == 1 && p < text + n;
		     p += used)
			buf_putc(out, (uint8_t)byte);
	}
}

/* The bytes of a block, which are written as they were read. Valid while *room is. */
static struct flow_batch batch_of(const char *name, struct flow_batch_room *room)
{
	struct flow_batch b;
	struct buf bytes = BUF_INIT(1000), again = BUF_INIT(1000);
	struct err e = { 0 };
	size_t n;
	const char *text = block(name, &n);

	read_hex(&bytes, text, n);
	ck_assert_msg(!flow_batch_decode(room, bytes.p, bytes.n, &b, &e), "%s", e.text);
	flow_batch_encode(&again, &b);
	ck_assert_uint_eq(again.n, bytes.n);
	ck_assert(!memcmp(again.p, bytes.p, bytes.n));
	buf_done(&bytes);
	buf_done(&again);
	return b;
}

TEST(its_batches_are_such)
{
	struct flow_batch_room room = { 0 };
	struct flow_batch b = batch_of("batch", &room);

	ck_assert_str_eq(b.link, "up");
	ck_assert_uint_eq(b.measurement, 7);
	ck_assert_int_eq(b.read, 5);
	ck_assert_int_eq(b.agg, AGG_MEAN);
	ck_assert_uint_eq(b.n, 1);
	ck_assert(b.t[0].value == 42 && b.t[0].key == 5 && b.t[0].time == 2 * NSEC_PER_SEC);
	ck_assert(b.t[0].k == 3 && b.t[0].n == 4);
	b = batch_of("rest", &room);
	ck_assert_uint_eq(b.rest, 20);
	ck_assert(b.rest_sum == UINT64_C(0x1122334455667788));
	ck_assert(b.t[0].value == 0 && b.t[0].k == 1 && b.t[0].n == 1);
	flow_batch_room_done(&room);
}

SUITE_WITH("docs", set_up, clean_up)
