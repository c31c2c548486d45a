/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of the Common Trace Format, to the byte. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "eventlog/evbytes.h"
#include "eventlog/text/evctf.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIME INT64_C(1700000000123456789)
#define LAST_TIME ((INT64_MAX / NSEC_PER_SEC - 1) * NSEC_PER_SEC)

static char folder[32], dir[64];
static struct evctf *ctf;

static const struct evfield fields[] = { { "id", EV_INT32 },
					 { "a.b", EV_STRING },
					 { "a-b", EV_INT64 },
					 { "f", EV_FLOAT },
					 { "d", EV_DOUBLE } };
static const struct evconst constants[] = { { "tid", { .kind = EV_INT32, .i32 = 4 } } };
static const struct evtype stream_type = { .name = "", .nconst = 1, .constant = constants };
static const struct evtype work = {
	.name = "work.\"start\"", .level = EV_WARN, .nfield = 5, .field = fields
};
static const struct evtype mark = { .name = "mark" };

static void set_up(void)
{
	struct err e = { 0 };

	umask(0);
	snprintf(folder, sizeof(folder), "/tmp/omig-ctf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(dir, sizeof(dir), "%s/trace", folder);
	ck_assert_msg(evctf_open(dir, &ctf, &e) == 0, "%s", e.text);
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void clean_up(void)
{
	char name[32];

	evctf_close(ctf);
	evctf_close(NULL);
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "stream_%d", i);
		unlink(in_dir(name));
	}
	unlink(in_dir("metadata"));
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static struct buf content(const char *name)
{
	struct buf b = BUF_INIT(1 << 24);

	ck_assert_int_eq(file_read(in_dir(name), 1 << 24, 0, &b, NULL), 0);
	return b;
}

static void put(const struct evtype *type, const struct evvalue *v, uint64_t stream, nsec_t at)
{
	const struct event ev = { .type = type,
				  .stream_type = &stream_type,
				  .value = v,
				  .stream = stream,
				  .wall_ns = at };
	struct err e = { 0 };

	ck_assert_msg(evctf_event(ctf, &ev, &e) == 0, "%s", e.text);
}

static uint64_t finish(void)
{
	struct err e = { 0 };
	uint64_t moved = 99;

	ck_assert_msg(evctf_finish(ctf, &moved, &e) == 0, "%s", e.text);
	return moved;
}

static const char head[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
	"\tpacket.header := struct { u32 magic; u32 stream_id; };\n};\n\n"
	"env { domain = \"ust\"; tracer_name = \"omig\"; };\n\n"
	"clock { name = wall; freq = 1000000000; offset = 0; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.wall.value; } "
	":= wall_t;\n\n"
	"stream {\n\tid = 0;\n\tevent.header := struct { u32 id; wall_t timestamp; };\n};\n\n";

static const struct evvalue plain[] = { { .kind = EV_INT32, .i32 = -7 },
					{ .kind = EV_STRING, .s = "a\0b", .n = 3 },
					{ .kind = EV_INT64, .i64 = INT64_MAX },
					{ .kind = EV_FLOAT, .f32 = 0.5f },
					{ .kind = EV_DOUBLE, .f64 = 2.5 } };

static mode_t mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(in_dir(name), &st), 0);
	return st.st_mode & 07777;
}

TEST(the_mask_of_the_user_holds_for_all_files)
{
	put(&mark, NULL, 1, TIME);
	finish();
	ck_assert_uint_eq(mode_of("."), 0777);
	ck_assert_uint_eq(mode_of("stream_0"), 0666);
	ck_assert_uint_eq(mode_of("metadata"), 0666);
}

TEST(the_metadata_describes_each_type_once)
{
	struct buf b;

	put(&work, plain, 1, TIME);
	put(&mark, NULL, 1, TIME);
	put(&work, plain, 2, TIME);
	ck_assert_uint_eq(finish(), 0);
	b = content("metadata");
	ck_assert_int_eq(strncmp(buf_str(&b), head, sizeof(head) - 1), 0);
	ck_assert_str_eq(
		buf_str(&b) + sizeof(head) - 1,
		"event {\n\tname = \"work.\\\"start\\\"\";\n\tid = 1;\n\tstream_id = 0;\n"
		"\tloglevel = 4;\n\tfields := struct {\n\t\ti32 _tid;\n\t\ti32 _id;\n\t\tstring _a_b;\n"
		"\t\ti64 _a_b_3;\n\t\tf32 _f;\n\t\tf64 _d;\n\t};\n};\n\n"
		"event {\n\tname = \"mark\";\n\tid = 2;\n\tstream_id = 0;\n"
		"\tfields := struct {\n\t\ti32 _tid;\n\t};\n};\n\n");
	buf_done(&b);
}

TEST(levels_are_those_of_lttng)
{
	static const int wanted[EV_NLEVELS] = { -1, 2, 3, 4, 6, 14, 14, 14, 14 };
	struct evtype type[EV_NLEVELS];
	char name[EV_NLEVELS][8], line[64];
	struct buf b;

	for (unsigned i = 1; i < EV_NLEVELS; i++) {
		snprintf(name[i], sizeof(name[i]), "e%u", i);
		type[i] = (struct evtype){ .name = name[i], .level = (uint8_t)i };
		put(&type[i], NULL, 1, TIME);
	}
	finish();
	b = content("metadata");
	for (unsigned i = 1; i < EV_NLEVELS; i++) {
		snprintf(line, sizeof(line), "id = %u;\n\tstream_id = 0;\n\tloglevel = %d;\n", i,
			 wanted[i]);
		ck_assert_msg(strstr(buf_str(&b), line) != NULL, "%s in %s", line, buf_str(&b));
	}
	buf_done(&b);
}

TEST(each_stream_has_a_file_of_its_events)
{
	static const uint8_t values[] = "\4\0\0\0\371\377\377\377" /* 4, -7 */
					"a\\x00b\0\377\377\377\377\377\377\377\177"
					"\0\0\0\77\0\0\0\0\0\0\4\100";
	enum { VALUES = sizeof(values) - 1 };
	struct buf b;

	put(&work, plain, 7, TIME);
	put(&mark, NULL, 9, TIME + 5);
	put(&work, plain, 7, TIME + 3);
	ck_assert_uint_eq(finish(), 0);
	b = content("stream_1");
	ck_assert_uint_eq(b.n, 8 + 12 + 4);
	ck_assert_uint_eq(ev_get32(b.p, false), 0xc1fc1fc1);
	ck_assert_uint_eq(ev_get32(b.p + 4, false), 0);
	ck_assert_uint_eq(ev_get32(b.p + 8, false), 2);
	ck_assert_int_eq((int64_t)ev_get64(b.p + 12, false), TIME + 5);
	ck_assert_uint_eq(ev_get32(b.p + 20, false), 4);
	buf_done(&b);
	b = content("stream_0");
	ck_assert_uint_eq(b.n, 8 + 2 * (12 + VALUES));
	ck_assert_uint_eq(ev_get32(b.p, false), 0xc1fc1fc1);
	ck_assert_uint_eq(ev_get32(b.p + 8, false), 1);
	ck_assert_mem_eq(b.p + 20, values, VALUES);
	ck_assert_int_eq((int64_t)ev_get64(b.p + 20 + VALUES + 4, false), TIME + 3);
	ck_assert_mem_eq(b.p + 32 + VALUES, values, VALUES);
	buf_done(&b);
	ck_assert_int_ne(access(in_dir("stream_2"), F_OK), 0);
}

static int64_t time_at(const struct buf *b, size_t i)
{
	return (int64_t)ev_get64(b->p + 8 + 16 * i + 4, false);
}

TEST(times_that_the_format_has_not_are_moved)
{
	struct buf b;

	put(&mark, NULL, 1, 0);
	put(&mark, NULL, 1, -5);
	put(&mark, NULL, 1, TIME);
	put(&mark, NULL, 1, TIME - 1);
	put(&mark, NULL, 1, TIME);
	put(&mark, NULL, 1, LAST_TIME);
	put(&mark, NULL, 1, LAST_TIME + 1);
	put(&mark, NULL, 2, 1); /* of another stream */
	ck_assert_uint_eq(finish(), 3);
	b = content("stream_0");
	ck_assert_uint_eq(b.n, 8 + 7 * 16);
	ck_assert_int_eq(time_at(&b, 0), 0);
	ck_assert_int_eq(time_at(&b, 1), 0);
	ck_assert_int_eq(time_at(&b, 2), TIME);
	ck_assert_int_eq(time_at(&b, 3), TIME);
	ck_assert_int_eq(time_at(&b, 4), TIME);
	ck_assert_int_eq(time_at(&b, 5), LAST_TIME);
	ck_assert_int_eq(time_at(&b, 6), LAST_TIME);
	buf_done(&b);
}

/* The clock of the metadata begins a day earlier than the first event, for the other streams. */
static void begins_at(nsec_t at, nsec_t origin_s)
{
	struct buf b;
	char clock[80];

	put(&mark, NULL, 1, at);
	put(&mark, NULL, 2, origin_s * NSEC_PER_SEC);
	put(&mark, NULL, 2, TIME);
	ck_assert_uint_eq(finish(), 0);
	b = content("stream_0");
	ck_assert_int_eq(time_at(&b, 0), at - origin_s * NSEC_PER_SEC);
	buf_done(&b);
	b = content("stream_1");
	ck_assert_int_eq(time_at(&b, 0), 0);
	ck_assert_int_eq(time_at(&b, 1), TIME - origin_s * NSEC_PER_SEC);
	buf_done(&b);
	b = content("metadata");
	snprintf(clock, sizeof(clock), "freq = 1000000000; offset_s = %" PRId64 "; offset = 0; };",
		 origin_s);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), clock));
	buf_done(&b);
}

TEST(a_log_that_begins_before_1970_has_its_times)
{
	begins_at(-5, -86401);
}

TEST(a_whole_second_before_1970_is_exact)
{
	begins_at(-5 * NSEC_PER_SEC, -86406);
}

TEST(events_before_the_trace_clock_are_moved_to_its_start)
{
	struct buf b;

	put(&mark, NULL, 1, -5);
	put(&mark, NULL, 2, -86401 * NSEC_PER_SEC - 1);
	ck_assert_uint_eq(finish(), 1);
	b = content("stream_1");
	ck_assert_int_eq(time_at(&b, 0), 0);
	buf_done(&b);
}

TEST(the_present_is_too_late_for_the_clock_of_the_earliest_time)
{
	const nsec_t origin = INT64_MIN / NSEC_PER_SEC * NSEC_PER_SEC;
	struct buf b;

	put(&mark, NULL, 1, origin + 7);
	put(&mark, NULL, 1, -2 * NSEC_PER_SEC);
	put(&mark, NULL, 1, TIME);
	ck_assert_uint_eq(finish(), 1);
	b = content("stream_0");
	ck_assert_int_eq(time_at(&b, 0), 7);
	ck_assert_int_eq(time_at(&b, 1), -2 * NSEC_PER_SEC - origin);
	ck_assert_int_eq(time_at(&b, 2), LAST_TIME);
	buf_done(&b);
}

/* More than is written at once. */
TEST(many_events_are_all_there)
{
	enum { MANY = 20000 };
	struct buf b;

	for (int i = 0; i < MANY; i++)
		put(&mark, NULL, 1, TIME + i);
	ck_assert_uint_eq(finish(), 0);
	b = content("stream_0");
	ck_assert_uint_eq(b.n, 8 + MANY * 16);
	for (size_t i = 0; i < MANY; i++)
		ck_assert_int_eq(time_at(&b, i), TIME + (int64_t)i);
	buf_done(&b);
}

static int write_one(const char *to)
{
	const struct event ev = {
		.type = &work, .stream_type = &stream_type, .value = plain, .wall_ns = TIME
	};
	struct evctf *c;
	uint64_t moved;
	int rc = evctf_open(to, &c, NULL);

	if (rc)
		return rc;
	rc = evctf_event(c, &ev, NULL);
	rc = rc ? rc : evctf_finish(c, &moved, NULL);
	evctf_close(c);
	return rc;
}

TEST(memory_may_end_anywhere)
{
	char to[64], file[80];
	static const char *const names[] = { "stream_0", "metadata" };

	snprintf(to, sizeof(to), "%s/again", folder);
	ALLOC_SWEEP (k) {
		int rc = write_one(to);

		alloc_sweep_pause();
		ck_assert_msg(rc == (alloc_sweep_has_failed() ? -ERR_NOMEM : 0),
			      "allocation %zu: %d", k, rc);
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			snprintf(file, sizeof(file), "%s/%s", to, names[i]);
			unlink(file);
		}
		rmdir(to);
	}
}

TEST(nothing_that_is_there_is_overwritten)
{
	struct evctf *again = NULL;
	struct err e = { 0 };
	uint64_t moved;

	ck_assert_int_eq(evctf_open(dir, &again, &e), -ERR_EXISTS);
	ck_assert_ptr_nonnull(strstr(e.text, "exists already"));
	ck_assert_int_eq(evctf_open("/nowhere/at/all", &again, &e), -ERR_SYS);
	ck_assert_ptr_null(again);
	finish();
	ck_assert_int_eq(evctf_finish(ctf, &moved, &e), -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "metadata"));
}

SUITE_WITH("ctf", set_up, clean_up)
