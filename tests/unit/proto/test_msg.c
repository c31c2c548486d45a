/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "proto/frame.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/proto/fill.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH_TYPE(t)                               \
	for (uint8_t t = 0; t < MSG_TYPE_END; t++) \
		if (shape_of(t))

static struct msg *get_frame(const struct buf *b)
{
	struct msg *m = NULL;
	struct err e = { 0 };

	ck_assert_uint_eq(frame_bytes(b->p, b->n), b->n);
	ck_assert_msg(
		!msg_get(b->p[4], b->p + FRAME_HEADER_BYTES, b->n - FRAME_HEADER_BYTES, &m, &e),
		"%s", e.text);
	return m;
}

TEST(every_place_stands_beside_the_field_of_its_name)
{
	size_t n = 0;

	EACH_TYPE(t)
	{
		const struct shape *s = shape_of(t);

		n++;
		ck_assert_str_eq(s->name, msg_type_name(t));
		for (unsigned i = 0; i < s->desc->n_fields; i++)
			ck_assert_str_eq(s->place[i].name, s->desc->fields[i].name);
	}
	ck_assert_uint_eq(n, 32);
	ck_assert_str_eq(msg_type_name(0), "?");
	ck_assert_str_eq(msg_type_name(255), "?");
}

TEST(no_message_contains_itself_and_all_stay_within_the_depth)
{
	/* Three levels: a stack of descriptors without a repetition. */
	EACH_TYPE(t)
	{
		const struct shape *s = shape_of(t);

		for (unsigned i = 0; i < s->desc->n_fields; i++) {
			const struct shape *sub = s->place[i].sub;

			ck_assert_int_eq(!!sub, s->desc->fields[i].type == PROTOBUF_C_TYPE_MESSAGE);
			if (!sub)
				continue;
			ck_assert_ptr_eq(sub->desc, s->desc->fields[i].descriptor);
			ck_assert_ptr_ne(sub->desc, s->desc);
			for (unsigned k = 0; k < sub->desc->n_fields; k++) {
				const struct shape *leaf = sub->place[k].sub;

				ck_assert_str_eq(sub->place[k].name, sub->desc->fields[k].name);
				for (unsigned j = 0; leaf && j < leaf->desc->n_fields; j++)
					ck_assert_int_ne(leaf->desc->fields[j].type,
							 PROTOBUF_C_TYPE_MESSAGE);
			}
		}
	}
}

TEST(decoded_message_equals_the_encoded_one)
{
	struct fill f = { .n = 0 };

	rng_init(&f.rng, suite_seed(2));
	for (int round = 0; round < 300; round++)
		EACH_TYPE(t)
		{
			struct buf b = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
			struct msg *in = fill_msg(&f, t), *out;

			ck_assert_int_eq(msg_put(&b, in), 0);
			out = get_frame(&b);
			ck_assert_msg(same_msg(in, out), "%s", msg_type_name(t));
			ck_assert_int_eq(msg_put(&again, out), 0);
			ck_assert_uint_eq(again.n, b.n);
			ck_assert_mem_eq(again.p, b.p, b.n);
			msg_free(out);
			buf_done(&b);
			buf_done(&again);
			fill_done(&f);
		}
}

TEST(the_bound_of_the_guard_holds_all_that_decoding_takes)
{
	/* Around the sizes at which the decoder takes another slab of notes. */
	static const size_t counts[] = { 15, 16, 17, 47, 48, 49, 111, 112, 113, 1000, 10000 };
	static struct msg_object object[10000];
	struct buf b = BUF_INIT(1 << 20);

	for (size_t i = 0; i < 10000; i++)
		object[i] = (struct msg_object){
			.token = "p_1_abcdef", .parent = "n_1", .name = "a", .pid = 77
		};
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		const struct msg_directory d = { .object = object, .nobject = counts[i] };
		struct msg *m;

		buf_clear(&b);
		ck_assert_int_eq(msg_directory_put(&b, &d), 0);
		m = get_frame(&b);
		ck_assert_uint_eq(m->directory.nobject, counts[i]);
		ck_assert_str_eq(m->directory.object[counts[i] - 1].token, "p_1_abcdef");
		msg_free(m);
	}
	buf_done(&b);
}

TEST(null_strings_are_put_as_empty_ones)
{
	struct buf b = BUF_INIT(1000);
	const struct msg_hello h = { .version_min = 1, .version_max = 1, .role = "lm" };
	struct msg *m;

	ck_assert_int_eq(msg_hello_put(&b, &h), 0);
	m = get_frame(&b);
	ck_assert_str_eq(m->hello.role, "lm");
	ck_assert_str_eq(m->hello.site, "");
	ck_assert_str_eq(m->hello.software, "");
	ck_assert(!m->hello.want_redirect);
	msg_free(m);
	buf_done(&b);
}

TEST(msg_put_refuses_invalid_messages)
{
	struct buf b = BUF_INIT(4 << 20);
	char *large = malloc(FRAME_MAX_BYTES + 1);
	struct msg_entry entry = { .action = 1 };
	size_t before;

	memset(large, 'x', FRAME_MAX_BYTES);
	large[FRAME_MAX_BYTES] = 0;
	msg_bye_put(&b, &(struct msg_bye){ "first" });
	before = b.n;
	ck_assert_int_eq(msg_bye_put(&b, &(struct msg_bye){ "esc \x1b[2J" }), -ERR_INVALID);
	ck_assert_int_eq(msg_bye_put(&b, &(struct msg_bye){ "\xff" }), -ERR_INVALID);
	ck_assert_int_eq(msg_request_put(&b, &(struct msg_request){ .policy = 9 }), -ERR_INVALID);
	entry.objects = large;
	ck_assert_int_eq(msg_reply_put(&b, &(struct msg_reply){ .entry = &entry, .nentry = 1 }),
			 -ERR_LIMIT);
	ck_assert_uint_eq(b.n, before);
	ck_assert(!b.failed);
	ck_assert_int_eq(msg_put(&b, &(struct msg){ .type = 99 }), -ERR_INVALID);
	ck_assert_int_eq(msg_bye_put(&b, &(struct msg_bye){ "second" }), 0);
	ck_assert_uint_gt(b.n, before);
	buf_done(&b);
	free(large);
}

TEST(more_elements_than_a_frame_may_have_are_not_put)
{
	static struct msg_entry entry[PROTO_ELEMENTS_MAX + 1];
	struct buf b = BUF_INIT(4 << 20);

	for (size_t n = PROTO_ELEMENTS_MAX - 1; n <= PROTO_ELEMENTS_MAX + 1; n++) {
		buf_clear(&b);
		ck_assert_int_eq(
			msg_reply_put(&b, &(struct msg_reply){ .entry = entry, .nentry = n }),
			n > PROTO_ELEMENTS_MAX ? -ERR_LIMIT : 0);
	}
	buf_done(&b);
}

TEST(only_a_frame_up_to_the_largest_size_passes)
{
	uint8_t *p = calloc(1, FRAME_MAX_BYTES);
	struct buf b = BUF_INIT(4 << 20);
	struct msg *m;

	/* type, tag and a length of three bytes precede the text. */
	for (size_t n = FRAME_MAX_BYTES - 6; n <= FRAME_MAX_BYTES - 4; n++) {
		const struct msg_request r = { .text = { p, n } };

		buf_clear(&b);
		ck_assert_int_eq(msg_request_put(&b, &r), n > FRAME_MAX_BYTES - 5 ? -ERR_LIMIT : 0);
		if (n > FRAME_MAX_BYTES - 5)
			continue;
		m = get_frame(&b);
		ck_assert_uint_eq(m->request.text.n, n);
		msg_free(m);
	}
	buf_done(&b);
	free(p);
}

TEST(an_unknown_type_is_refused)
{
	struct msg *m = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(msg_get(77, NULL, 0, &m, &e), -ERR_PROTO);
	ck_assert_str_eq(e.text, "BAD_TYPE 77");
	ck_assert_int_eq(msg_get(0, NULL, 0, &m, &e), -ERR_PROTO);
	ck_assert_ptr_null(m);
}

TEST(an_empty_payload_is_a_message_of_zeros)
{
	EACH_TYPE(t)
	{
		struct buf b = BUF_INIT(100);
		struct msg *m = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(msg_get(t, NULL, 0, &m, &e), 0);
		ck_assert_int_eq(msg_put(&b, m), 0);
		ck_assert_uint_eq(b.n, FRAME_HEADER_BYTES);
		msg_free(m);
		buf_done(&b);
	}
}

TEST(without_memory_nothing_is_put_or_got)
{
	struct fill f = { .n = 0 };
	struct msg *in;

	rng_init(&f.rng, 5);
	do {
		fill_done(&f);
		in = fill_msg(&f, MSG_DIRECTORY);
	} while (in->directory.nobject < 3);
	ALLOC_SWEEP (k) {
		struct buf b = BUF_INIT(1 << 20);
		struct msg *m = NULL;
		struct err e = { 0 };
		int rc = msg_put(&b, in), got = 1;

		if (!rc)
			got = msg_get(b.p[4], b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES,
				      &m, &e);
		alloc_sweep_pause();
		ck_assert(!rc || (rc == -ERR_NOMEM && b.n == 0));
		ck_assert(got == 1 || got == 0 || (got == -ERR_NOMEM && !m));
		msg_free(m);
		buf_done(&b);
	}
	fill_done(&f);
}

/* --- a second decoder: the reference implementation's, through its compiler */

static int run_protoc(const char *how, const char *name, const char *from, const char *to)
{
	char option[80];
	char *argv[] = { (char *)"protoc", option, (char *)"proto/omig.proto", NULL };
	posix_spawn_file_actions_t fa;
	int status = -1;
	pid_t pid;

	snprintf(option, sizeof(option), "--%s=omig.wire.%s", how, name);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, from, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (!posix_spawnp(&pid, "protoc", &fa, NULL, argv, environ))
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&fa);
	return status;
}

static void write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(p, 1, n, f), n);
	fclose(f);
}

TEST(the_reference_decoder_reads_the_same)
{
	char dir[] = "/tmp/omig-test-XXXXXX", raw[64], text[64], back[64];
	struct fill f = { .n = 0 };

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(raw, sizeof(raw), "%s/raw", dir);
	snprintf(text, sizeof(text), "%s/text", dir);
	snprintf(back, sizeof(back), "%s/back", dir);
	rng_init(&f.rng, suite_seed(4));
	EACH_TYPE(t)
	{
		struct buf b = BUF_INIT(1 << 20);
		static uint8_t got[1 << 20];
		FILE *in;

		ck_assert_int_eq(msg_put(&b, fill_msg(&f, t)), 0);
		write_file(raw, b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES);
		if (run_protoc("decode", shape_of(t)->desc->short_name, raw, text)) {
			printf("protoc is not here: the reference decoder was not asked\n");
			buf_done(&b);
			break;
		}
		ck_assert_int_eq(run_protoc("encode", shape_of(t)->desc->short_name, text, back),
				 0);
		in = fopen(back, "r");
		ck_assert_ptr_nonnull(in);
		ck_assert_uint_eq(fread(got, 1, sizeof(got), in), b.n - FRAME_HEADER_BYTES);
		ck_assert_mem_eq(got, b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES);
		fclose(in);
		buf_done(&b);
	}
	fill_done(&f);
	unlink(raw);
	unlink(text);
	unlink(back);
	rmdir(dir);
}

TEST(an_end_names_as_many_as_it_may_have_and_no_byte_more)
{
	struct buf names = BUF_INIT(MSG_MISSING_MAX_BYTES), b = BUF_INIT(FRAME_MAX_BYTES);
	char name[MSG_MISSING_MAX_BYTES + 1] = "";

	msg_events_add_missing(&names, "sm ", "h1");
	msg_events_add_missing(&names, "", "h2");
	ck_assert_str_eq(buf_str(&names), "sm h1, h2");
	memset(name, 'x', MSG_MISSING_MAX_BYTES - strlen("sm h1, h2, ") + 1);
	msg_events_add_missing(&names, "", name);
	ck_assert_str_eq(buf_str(&names), "sm h1, h2");
	name[strlen(name) - 1] = 0;
	msg_events_add_missing(&names, "", name);
	ck_assert(!names.failed);
	ck_assert_uint_eq(names.n, MSG_MISSING_MAX_BYTES);
	ck_assert_int_eq(
		msg_events_put(&b, &(struct msg_events){ .end = true, .missing = buf_str(&names) }),
		0);
	buf_done(&names);
	buf_done(&b);
}

SUITE("msg")
