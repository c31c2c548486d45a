/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that is cut anywhere, or has any bit flipped: no altered event is read, and all events
 * before it are.
 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "eventlog/evfile.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/made.h"

#include <string.h>
#include <unistd.h>

/* Under a sanitizer a cut costs thirty times as much, so that only some are tested. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 61
#else
#define STEP 1
#endif

/* Events of made_many() contain their number: they must be complete and in order. */
struct seen {
	unsigned n;
	int64_t last;
};

static void see(void *arg, const struct event *ev)
{
	struct seen *s = arg;

	ck_assert(ev->value[0].i32 == ev->wall_ns && ev->value[1].f32 == 0.5f &&
		  ev->wall_ns > s->last);
	ck_assert_str_eq(ev->type->name, "MY_EVENT");
	s->last = ev->wall_ns;
	s->n++;
}

/* The end of each block, and the number of events up to there. */
struct marks {
	size_t end[512];
	unsigned events[512];
	size_t n;
};

static void mark(const struct buf *b, struct marks *m)
{
	struct evblock head;

	for (size_t at = 0; at < b->n; at += head.bytes) {
		ck_assert_int_eq(evblock_look(b->p + at, b->n - at, &head), EVBLOCK_GOOD);
		m->end[m->n] = at + head.bytes;
		m->events[m->n++] = (unsigned)(head.first + head.events);
	}
}

static unsigned kept(const struct marks *m, size_t before)
{
	unsigned events = 0;

	for (size_t i = 0; i < m->n && m->end[i] <= before; i++)
		events = m->events[i];
	return events;
}

TEST(every_cut_of_64_kib_keeps_what_is_before_it)
{
	struct marks m = { 0 };
	struct buf b, part;

	made_many(&b, 3, 1, 3070, 512);
	ck_assert_uint_ge(b.n, 65536);
	mark(&b, &m);
	part = b;
	for (part.n = 0; part.n < 65536; part.n += STEP) {
		struct evread_report r;
		struct seen s = { 0 };

		made_read(&part, see, &s, &r);
		ck_assert_uint_eq(s.n, kept(&m, part.n));
		ck_assert_uint_eq(r.bytes, part.n);
		ck_assert_uint_eq(r.skipped_bytes, part.n - (s.n ? m.end[r.blocks - 1] : 0));
	}
	buf_done(&b);
}

TEST(every_bit_of_4_kib_is_guarded)
{
	struct marks m = { 0 };
	struct buf b;

	made_many(&b, 3, 1, 180, 512);
	ck_assert_uint_ge(b.n, 4096);
	mark(&b, &m);
	for (size_t bit = 0; bit < b.n * 8; bit++) {
		struct evread_report r;
		struct seen s = { 0 };

		b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		made_read(&b, see, &s, &r);
		ck_assert_uint_ge(s.n, kept(&m, bit / 8));
		ck_assert_uint_lt(s.n, 180);
		ck_assert(!evread_is_clean(&r));
		b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	buf_done(&b);
}

TEST(noise_between_blocks_costs_only_itself)
{
	struct rng rng;
	struct buf all = BUF_INIT(1 << 22);
	struct evread_report r;
	struct seen s = { 0 };
	size_t noise = 0;

	rng_init(&rng, suite_seed(5));
	for (unsigned i = 0; i < 100; i++) {
		struct buf one;
		size_t n = rng_below(&rng, 300);

		for (size_t k = 0; k < n; k++)
			ck_assert_int_eq(buf_putc(&all, rng_below(&rng, 4) ? (uint8_t)rng_next(&rng)
									   : "OLOG"[k % 4]),
					 0);
		noise += n;
		made_many(&one, i, 1 + i * 100, 100, 0);
		ck_assert_int_eq(buf_put(&all, one.p, one.n), 0);
		buf_done(&one);
	}
	made_read(&all, see, &s, &r);
	ck_assert_uint_eq(s.n, 10000);
	ck_assert_uint_eq(r.skipped_bytes, noise);
	buf_done(&all);
}

/*
 * Valid headers, each announcing a quarter of a MiB that is missing: each one costs a single test.
 */
TEST(false_headers_do_not_cost_quadratic_time)
{
	struct evblock h = { .version = 1, .bytes = EVBLOCK_MAX_BYTES, .crc = 1 };
	struct buf b = BUF_INIT(16 << 20);
	struct evread_report r;

	for (h.seq = 0; b.n < 8 << 20; h.seq++) {
		uint8_t head[EVBLOCK_HEAD_BYTES];

		evblock_encode(&h, head);
		ck_assert_int_eq(buf_put(&b, head, sizeof(head)), 0);
	}
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.skipped_bytes, b.n);
	ck_assert_uint_lt(r.torn_blocks, 1000);
	buf_done(&b);
}

/* --- the same through files */

static void write_file(char *path, const struct buf *b)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, b->p, b->n), (ssize_t)b->n);
	close(fd);
}

TEST(a_file_of_any_length_is_read_in_pieces)
{
	char path[] = "/tmp/omig-evfile-XXXXXX";
	struct buf b;
	struct evfile *f;
	struct event ev;
	struct err e = { 0 };
	struct seen s = { 0 };

	made_many(&b, 3, 1, 200000, 0);
	b.n -= 7;
	write_file(path, &b);
	ck_assert_int_eq(evfile_open(path, &f, &e), 0);
	ck_assert_uint_eq(evfile_size(f), b.n);
	while (evfile_next(f, &ev, &e) == 1)
		see(&s, &ev);
	ck_assert_uint_gt(s.n, 190000);
	ck_assert_uint_eq(evfile_report(f)->torn_blocks, 1);
	ck_assert_uint_eq(evfile_report(f)->bytes, b.n);
	evfile_close(f);
	unlink(path);
	buf_done(&b);
}

TEST(lines_are_found_across_pieces)
{
	char path[] = "/tmp/omig-evfile-XXXXXX";
	struct buf b = BUF_INIT(8 << 20);
	struct evfile *f;
	struct err e = { 0 };
	const char *line;
	size_t n, lines = 0;

	for (unsigned i = 0; i < 50000; i++)
		buf_printf(&b, "line %u%s\n", i, i % 3 ? "" : "\r");
	for (unsigned i = 0; i < 3000000; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\nthe last");
	write_file(path, &b);
	ck_assert_int_eq(evfile_open(path, &f, &e), 0);
	for (; lines < 50000; lines++) {
		char want[32];

		ck_assert_int_eq(evfile_line(f, 1000, &line, &n, &e), 1);
		snprintf(want, sizeof(want), "line %zu", lines);
		ck_assert(strlen(want) == n && !memcmp(want, line, n));
	}
	ck_assert_int_eq(evfile_line(f, 1000, &line, &n, &e), -ERR_LIMIT);
	ck_assert_int_eq(evfile_line(f, 1000, &line, &n, &e), 1);
	ck_assert(n == 8 && !memcmp(line, "the last", 8));
	ck_assert_int_eq(evfile_line(f, 1000, &line, &n, &e), 0);
	evfile_close(f);
	unlink(path);
	buf_done(&b);
}

TEST(only_regular_files_are_opened)
{
	struct evfile *f;
	struct err e = { 0 };

	ck_assert_int_eq(evfile_open("/tmp", &f, &e), -ERR_DENIED);
	ck_assert_int_eq(evfile_open("/dev/null", &f, &e), -ERR_DENIED);
	ck_assert_int_eq(evfile_open("/nonexistent/x", &f, &e), -ERR_NOTFOUND);
}

SUITE("damage")
