/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/protocol.md is normative: its bytes are these messages, its tables are these fields, its
 * errors these texts.
 */
#include "common/base/cur.h"
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "proto/frame.h"
#include "proto/internal.h"
#include "tests/suite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s)                                     \
	{                                           \
		(const uint8_t *)(s), sizeof(s) - 1 \
	}

static const struct msg_entry entries[] = { { 1, "p_1_abcdef,p_1_bcdefg", 0, TEXT("42") },
					    { 2, "p_2_cdefgh", 7, { NULL, 0 } } };
static const struct msg_missing missing[] = { { "n_3", "silent for 6 s" } };
static const struct msg_coverage coverage = { 3, 2, missing, 1, 1000, 2000 };
static const uint32_t actions[] = { 1, 3 };
static const struct msg_object objects[] = {
	{ .token = "p_1_abcdef",
	  .parent = "n_1",
	  .name = "heat2d",
	  .pid = 4711,
	  .rank = 0,
	  .world_size = 4,
	  .job = "j1",
	  .flavour = "openmpi",
	  .state = MSG_STATE_BLOCKED,
	  .time_ns = 1000 },
	{ .token = "p_1_bcdefg", .op = MSG_OP_GONE, .rank = -1, .exit_status = -9 },
};

static const struct msg_flow_piece pieces[] = {
	{ "n_1", TEXT("[\"flow\",1,7,[]]") },
	{ "s_1", TEXT("[]") },
};
static const struct bytes batches[] = { TEXT("ab"), TEXT("c") };

static const struct {
	const char *name;
	struct msg m;
} vectors[] = {
	{ "hello",
	  { MSG_HELLO,
	    { .hello = { .version_min = 1,
			 .version_max = 1,
			 .role = "lm",
			 .site = "a",
			 .host = "n1",
			 .epoch = 1000,
			 .software = "omig 0.1.0",
			 .want_redirect = true } } } },
	{ "hello_ack",
	  { MSG_HELLO_ACK,
	    { .hello_ack = { .version = 1, .epoch = 2000, .name = "n_1", .node = 1 } } } },
	{ "ping", { MSG_PING, { .ping = { 300, 1000000 } } } },
	{ "pong", { MSG_PONG, { .pong = { 300, 1000000, 1700000000000000000, 250 } } } },
	{ "bye", { MSG_BYE, { .bye = { "the end" } } } },
	{ "request",
	  { MSG_REQUEST,
	    { .request = { .id = 5,
			   .tool = 1,
			   .identity = "omig:tool-observe//u",
			   .deadline_ns = 2000000000,
			   .policy = MSG_WAIT_QUORUM,
			   .quorum = 2,
			   .text = TEXT(":node_get_info([],1)"),
			   .action = actions,
			   .naction = 2 } } } },
	{ "reply",
	  { MSG_REPLY,
	    { .reply = { .id = 5, .entry = entries, .nentry = 2, .coverage = &coverage } } } },
	{ "directory", { MSG_DIRECTORY, { .directory = { true, 1, objects, 2, false } } } },
	{ "cancel", { MSG_CANCEL, { .cancel = { UINT64_MAX } } } },
	{ "release", { MSG_RELEASE, { .release = { "c_5", 300, "n_7" } } } },
	{ "disown", { MSG_DISOWN, { .disown = { 300, "h2" } } } },
	{ "stop", { MSG_STOP, { .stop = { "" } } } },
	{ "flow_load",
	  { MSG_FLOW_LOAD,
	    { .flow_load = { .measurement = 7,
			     .tool = 1,
			     .identity = "omig:tool-observe//u",
			     .version = 3,
			     .start_ns = 1700000000000000000,
			     .every_ns = 1000000000,
			     .read = 5,
			     .piece = pieces,
			     .npiece = 2,
			     .more = true } } } },
	{ "flow_ack", { MSG_FLOW_ACK, { .flow_ack = { 7, 3, entries, 2 } } } },
	{ "flow_end", { MSG_FLOW_END, { .flow_end = { 7 } } } },
	{ "flow_read", { MSG_FLOW_READ, { .flow_read = { 7, 6, 1700000006000000000 } } } },
	{ "flow_batch",
	  { MSG_FLOW_BATCH,
	    { .flow_batch = { 7, 6, 1700000006000000000, "n_1", batches, 2, 300 } } } },
	{ "events_open",
	  { MSG_EVENTS_OPEN,
	    { .events_open = { "run7", "omig:tool-observe//u", 300, 8, MSG_KEEP_STOP, 67108864, 300,
			       true } } } },
	{ "events",
	  { MSG_EVENTS, { .events = { "run7", 300, 4096, TEXT("blocks"), true, "h2" } } } },
	{ "events_ack", { MSG_EVENTS_ACK, { .events_ack = { "run7", 300, 4096 } } } },
	{ "events_end", { MSG_EVENTS_END, { .events_end = { "run7", "omig:tool-observe//u" } } } },
};

#define NVECTORS ARRAY_LEN(vectors)

static struct buf doc;

static void set_up(void)
{
	struct err e = { 0 };

	buf_init(&doc, 1 << 20);
	ck_assert_msg(!file_read("docs/protocol.md", 1 << 20, 0, &doc, &e), "%s", e.text);
}

static void clean_up(void)
{
	buf_done(&doc);
}

/* The bytes of a block: hexadecimal with white space, # begins a comment. */
static void read_hex(const char *s, const char *end, struct buf *out)
{
	unsigned digits = 0, v = 0;

	for (; s < end; s++) {
		if (*s == '#')
			s += strcspn(s, "\n");
		if (!isxdigit((unsigned char)*s))
			continue;
		v = v << 4 |
		    (unsigned)(isdigit((unsigned char)*s) ? *s - '0'
							  : tolower((unsigned char)*s) - 'a' + 10);
		if (++digits % 2 == 0)
			buf_putc(out, (uint8_t)v);
	}
	ck_assert_uint_eq(digits % 2, 0);
}

/* The next block ```<kind> <title>; returns where to continue, NULL without one. */
static const char *next_block(const char *from, const char *kind, char *title, size_t size,
			      struct buf *bytes)
{
	char fence[40];
	const char *s, *nl, *end;

	snprintf(fence, sizeof(fence), "\n```%s ", kind);
	s = strstr(from, fence);
	if (!s)
		return NULL;
	s += strlen(fence);
	nl = strchr(s, '\n');
	end = strstr(nl, "\n```");
	ck_assert_ptr_nonnull(end);
	snprintf(title, size, "%.*s", (int)(nl - s), s);
	buf_clear(bytes);
	read_hex(nl, end, bytes);
	return end;
}

static const struct msg *vector_of(const char *name)
{
	for (size_t i = 0; i < NVECTORS; i++)
		if (str_eq(vectors[i].name, name))
			return &vectors[i].m;
	ck_abort_msg("docs/protocol.md has a vector '%s' that is not known here", name);
	return NULL;
}

TEST(the_bytes_in_the_document_are_the_bytes_on_the_wire)
{
	struct buf want = BUF_INIT(10000), got = BUF_INIT(10000);
	const char *at = buf_str(&doc);
	char name[80];
	size_t n = 0;

	while ((at = next_block(at, "vector", name, sizeof(name), &want))) {
		struct msg *m = NULL;
		struct err e = { 0 };

		buf_clear(&got);
		ck_assert_int_eq(msg_put(&got, vector_of(name)), 0);
		ck_assert_msg(got.n == want.n && !memcmp(got.p, want.p, got.n), "vector %s", name);
		ck_assert_int_eq(msg_get(want.p[4], want.p + FRAME_HEADER_BYTES,
					 want.n - FRAME_HEADER_BYTES, &m, &e),
				 0);
		buf_clear(&got);
		ck_assert_int_eq(msg_put(&got, m), 0);
		ck_assert_mem_eq(got.p, want.p, want.n);
		msg_free(m);
		n++;
	}
	ck_assert_uint_eq(n, NVECTORS);
	buf_done(&want);
	buf_done(&got);
}

/* The error of the receiver of these bytes. */
static void judge(const struct buf *bytes, struct err *e)
{
	struct frame_in f;
	struct frame fr;
	struct msg *m = NULL;

	frame_in_init(&f, FRAME_MAX_BYTES);
	ck_assert_int_eq(frame_in_add(&f, bytes->p, bytes->n, e), 0);
	if (frame_in_next(&f, &fr, e) == 1)
		msg_get(fr.type, fr.p, fr.n, &m, e);
	msg_free(m);
	frame_in_done(&f);
}

TEST(the_errors_in_the_document_are_the_errors_that_are_reported)
{
	struct buf bytes = BUF_INIT(10000);
	const char *at = buf_str(&doc);
	char text[200];
	size_t n = 0;

	while ((at = next_block(at, "refused", text, sizeof(text), &bytes))) {
		struct err e = { 0 };

		judge(&bytes, &e);
		ck_assert_str_eq(e.text, text);
		n++;
	}
	ck_assert_uint_ge(n, 6);
	buf_done(&bytes);
}

/* The section with this heading, up to the next heading. */
static char *section(const char *heading)
{
	const char *s = strstr(buf_str(&doc), heading), *end;

	ck_assert_msg(s != NULL, "docs/protocol.md has no '%s'", heading);
	s += strlen(heading);
	end = strstr(s, "\n#");
	return end ? str_ndup(s, (size_t)(end - s)) : str_dup(s);
}

static void check_fields(const struct shape *s, const char *heading)
{
	char *text = section(heading), row[80];

	for (unsigned i = 0; i < s->desc->n_fields; i++) {
		snprintf(row, sizeof(row), "| %u | `%s` |", s->desc->fields[i].id,
			 s->desc->fields[i].name);
		ck_assert_msg(strstr(text, row) != NULL, "%s has no row '%s'", heading, row);
	}
	free(text);
}

TEST(every_message_and_field_is_in_the_document)
{
	for (unsigned t = 0; t < MSG_TYPE_END; t++) {
		const struct shape *s = shape_of((uint8_t)t);
		char heading[80];

		if (!s)
			continue;
		snprintf(heading, sizeof(heading), "\n### %s = %u\n", s->name, t);
		check_fields(s, heading);
		for (unsigned i = 0; i < s->desc->n_fields; i++) {
			if (!s->place[i].sub)
				continue;
			snprintf(heading, sizeof(heading), "\n### (%s)\n", s->place[i].sub->name);
			check_fields(s->place[i].sub, heading);
		}
	}
}

/*
 * Properties that a peer of another build would refuse or ignore: numbers, names and kinds of
 * messages and of their fields.
 */
static uint32_t digest_of(const struct shape *s, unsigned type, uint32_t crc)
{
	char row[160];

	for (unsigned i = 0; i < s->desc->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &s->desc->fields[i];
		int n = snprintf(row, sizeof(row), "%u %s %u %s %d %d;", type, s->name, f->id,
				 f->name, (int)f->type, (int)f->label);

		crc = hash_crc32c(crc, row, (size_t)n);
		if (s->place[i].sub)
			crc = digest_of(s->place[i].sub, type, crc);
	}
	return crc;
}

TEST(other_messages_are_another_version)
{
	static const struct {
		unsigned version;
		uint32_t digest;
	} is = { 6, 0x520ca08e };
	uint32_t crc = 0;

	for (unsigned t = 0; t < MSG_TYPE_END; t++)
		if (shape_of((uint8_t)t))
			crc = digest_of(shape_of((uint8_t)t), t, crc);
	ck_assert_uint_eq(MSG_VERSION_MAX, is.version);
	ck_assert_msg(
		crc == is.digest,
		"the messages are not those of version %u: raise MSG_VERSION_MIN and MSG_VERSION_MAX (proto/msg.h), say in "
		"docs/protocol.md what is new, and write 0x%08x here",
		is.version, crc);
}

TEST(every_limit_in_the_document_is_the_limit_that_holds)
{
	static const struct {
		const char *name;
		long long value;
	} limits[] = {
		{ "FRAME_MAX_BYTES", FRAME_MAX_BYTES },
		{ "FRAME_PREAUTH_MAX_BYTES", FRAME_PREAUTH_MAX_BYTES },
		{ "PROTO_DEPTH_MAX", PROTO_DEPTH_MAX },
		{ "PROTO_ELEMENTS_MAX", PROTO_ELEMENTS_MAX },
		{ "DECODE_HEAP_MAX_BYTES", DECODE_HEAP_MAX_BYTES },
		{ "MSG_VERSION_MIN", MSG_VERSION_MIN },
		{ "MSG_VERSION_MAX", MSG_VERSION_MAX },
		{ "NAME_MAX_BYTES", NAME_MAX_BYTES },
		{ "HEARTBEAT_PERIOD_NS", HEARTBEAT_PERIOD_NS },
		{ "HEARTBEAT_MISSED_MAX", HEARTBEAT_MISSED_MAX },
		{ "HEARTBEAT_SLOT_NS", HEARTBEAT_SLOT_NS },
		{ "HELLO_MAX_NS", HELLO_MAX_NS },
		{ "HANDSHAKE_MAX_NS", HANDSHAKE_MAX_NS },
		{ "FRAME_COMPLETE_MAX_NS", FRAME_COMPLETE_MAX_NS },
		{ "RECONNECT_MIN_NS", RECONNECT_MIN_NS },
		{ "RECONNECT_MAX_NS", RECONNECT_MAX_NS },
		{ "TOOL_QUEUE_MAX_BYTES", TOOL_QUEUE_MAX_BYTES },
		{ "PEER_QUEUE_MAX_BYTES", PEER_QUEUE_MAX_BYTES },
		{ "FLOW_EVERY_MIN_NS", FLOW_EVERY_MIN_NS },
		{ "FLOW_EVERY_MAX_NS", FLOW_EVERY_MAX_NS },
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		char row[100];

		snprintf(row, sizeof(row), "\n| %s | %lld |", limits[i].name, limits[i].value);
		ck_assert_msg(strstr(buf_str(&doc), row) != NULL, "no row '%s'", row + 1);
	}
}

/* The length and the type on the first line, then 24 bytes a line. */
static void print_frame(const struct buf *b)
{
	for (size_t k = 0; k < b->n; k++) {
		if (k == 4)
			printf("  ");
		else if (k > 4)
			printf("%s", (k - 5) % 24 == 0 ? "\n" : " ");
		printf("%02x", b->p[k]);
	}
}

/* For writers of the document: OMIG_PRINT_VECTORS=1 prints the blocks. */
static void print_vectors(void)
{
	for (size_t i = 0; i < NVECTORS; i++) {
		struct buf b = BUF_INIT(10000);

		if (msg_put(&b, &vectors[i].m))
			exit(1);
		printf("```vector %s\n", vectors[i].name);
		print_frame(&b);
		printf("\n```\n\n");
		buf_done(&b);
	}
}

int main(void)
{
	if (getenv("OMIG_PRINT_VECTORS")) {
		print_vectors();
		return 0;
	}
	return suite_run("vectors", set_up, clean_up);
}
