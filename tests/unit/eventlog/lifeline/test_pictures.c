/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page and the picture of a known log, to the byte. OMIG_TEST_WRITE=1 writes both in
 * tests/golden/lifeline: examine them before they are committed.
 */
#include "common/base/file.h"
#include "common/base/str.h"
#include "eventlog/lifeline/lifepage.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define START (INT64_C(1795341600) * NSEC_PER_SEC)
#define GOLDEN "tests/golden/lifeline/"

static const struct life_options all = { .from = INT64_MIN, .to = INT64_MAX };

/* An event of one field. */
struct what {
	const char *name, *field;
	unsigned level;
};

static void put(struct life *l, struct what what, nsec_t at, struct evvalue v)
{
	const struct evfield field = { what.field, v.kind };
	const struct evtype type = {
		.name = what.name, .level = what.level, .nfield = 1, .field = &field
	};
	const struct event ev = { .type = &type, .value = &v, .wall_ns = START + at };

	ck_assert_int_eq(life_event(l, &ev, NULL), 0);
}

static void put_stage(struct life *l, const char *name, nsec_t at, int line)
{
	put(l, (struct what){ name, "block.id", EV_INFO }, at,
	    (struct evvalue){ .kind = EV_INT32, .i32 = line });
}

/*
 * Forty lines of four stages: every seventh is slow at one step, some lack the last stage. Loads
 * and marks are included.
 */
static struct life *known(const struct life_model **m)
{
	static const char *const stage[] = { "read.start", "read.end", "send.start", "send.end" };
	struct life *l = life_new(&all);

	ck_assert_ptr_nonnull(l);
	for (int line = 0; line < 40; line++)
		for (int s = 0; s < (line % 9 == 4 ? 3 : 4); s++)
			put_stage(l, stage[s],
				  (line * 25 + s * (7 + line % 5) +
				   (s > 1 && line % 7 == 3 ? 60 : 0)) *
					  MS,
				  line);
	for (int i = 0; i < 20; i++) {
		put(l, (struct what){ "host.load", "cpu", EV_INFO }, i * 50 * MS,
		    (struct evvalue){ .kind = EV_DOUBLE, .f64 = i % 6 * 12.5 });
		put(l, (struct what){ "host.temperature", "celsius", EV_INFO }, i * 50 * MS,
		    (struct evvalue){ .kind = EV_INT32, .i32 = 60 + i % 4 });
	}
	put(l, (struct what){ "disk <full> & isn't", "where", EV_ERROR }, 333 * MS,
	    (struct evvalue){ .kind = EV_STRING, .n = 4, .s = "/tmp" });
	ck_assert_int_eq(life_finish(l, m, NULL), 0);
	return l;
}

static const char *cut(struct buf *out, const char *p, const char *begin, const char *end)
{
	const char *from = strstr(p, begin), *to = from ? strstr(from + strlen(begin), end) : NULL;

	if (!to)
		return NULL;
	buf_put(out, p, (size_t)(from - p));
	return to;
}

/* Style, code and their hashes are separate files: this only checks that they are present. */
static struct buf without_code(const struct buf *page)
{
	struct buf b = BUF_INIT(1 << 24);
	const char *p = buf_str(page), *rest;

	for (int i = 0; i < 2; i++, p = rest)
		ck_assert_ptr_nonnull(rest = cut(&b, p, "'sha256-", "'"));
	ck_assert_ptr_nonnull(rest = cut(&b, p, "<style", "</style>"));
	p = rest;
	ck_assert_ptr_nonnull(rest = cut(&b, p, "<script>", "</script>"));
	p = rest;
	buf_puts(&b, p);
	return b;
}

static void is_as(const char *path, const struct buf *b)
{
	struct buf want = BUF_INIT(1 << 24);
	size_t at = 0;

	if (getenv("OMIG_TEST_WRITE"))
		ck_assert_int_eq(file_write_atomic(path, b->p, b->n, NULL), 0);
	ck_assert_int_eq(file_read(path, 1 << 24, 0, &want, NULL), 0);
	while (at < want.n && at < b->n && want.p[at] == b->p[at])
		at++;
	ck_assert_msg(at == want.n && at == b->n, "%s differs at byte %zu: %.60s", path, at,
		      buf_str(b) + at);
	buf_done(&want);
}

TEST(the_picture_of_a_known_log_is_as_it_was)
{
	const struct life_model *m;
	struct life *l = known(&m);
	struct buf svg = BUF_INIT(1 << 24);

	ck_assert_int_eq(lifepage_svg(&svg, m, "known", "block.id", NULL), 0);
	is_as(GOLDEN "known.svg", &svg);
	buf_done(&svg);
	life_free(l);
}

/* So many lines that the picture shows their density. */
TEST(the_density_of_a_known_log_is_as_it_was)
{
	const struct life_model *m;
	struct life *l = life_new(&all);
	struct buf svg = BUF_INIT(1 << 24);

	ck_assert_ptr_nonnull(l);
	for (int line = 0; line <= LIFESVG_LINES_MAX; line++) {
		put_stage(l, "a", line * MS / 100, line);
		put_stage(l, "b", line * MS / 100 + (line % 3 + 1) * MS, line);
		put_stage(l, "c", line * MS / 100 + (line % 50 ? 4 : 15) * MS, line);
	}
	ck_assert_int_eq(life_finish(l, &m, NULL), 0);
	ck_assert_int_eq(lifepage_svg(&svg, m, "many", "block.id", NULL), 0);
	is_as(GOLDEN "many.svg", &svg);
	buf_done(&svg);
	life_free(l);
}

TEST(the_page_of_a_known_log_is_as_it_was)
{
	const struct life_model *m;
	struct life *l = known(&m);
	struct buf page = BUF_INIT(1 << 24), rest;

	ck_assert_int_eq(
		lifepage_html(&page, m,
			      &(struct lifepage_words){ "known", "block.id", "3 bytes skipped" },
			      NULL),
		0);
	rest = without_code(&page);
	is_as(GOLDEN "known.html", &rest);
	buf_done(&rest);
	buf_done(&page);
	life_free(l);
}

SUITE("pictures")
