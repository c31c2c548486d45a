/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of docs/eventlog.md: its numbers, its limits, its example in both byte orders. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/made.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#define PAGE "docs/eventlog.md"

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

TEST(kinds_levels_and_records_have_these_numbers)
{
	for (int i = EV_INT32; i <= EV_STRING; i++)
		says("\n| %d | `%s` |", i, evkind_name(i));
	for (unsigned i = 1; i < EV_NLEVELS; i++)
		says("%u %s", i, evlevel_name(i));
	says("\n| %d .. %d | an event", EV_TYPE_FIRST, EV_TYPE_LAST);
	says("\n| %d | a definition |", EV_DEFINITION);
	says("\n| %d | a clock |", EV_CLOCK);
	says("the number 0x%x", EVBLOCK_MAGIC);
	says("version: %d", EVBLOCK_VERSION);
}

TEST(every_limit_is_in_it)
{
	says("\n| EVBLOCK_MAX_BYTES | %d |", EVBLOCK_MAX_BYTES);
	says("\n| EV_RECORD_MAX_BYTES | %d |", EV_RECORD_MAX_BYTES);
	says("\n| EV_FIELDS_MAX | %d |", EV_FIELDS_MAX);
	says("\n| EV_TYPE_LAST | %d |", EV_TYPE_LAST);
	says("\n| EVREAD_STREAMS_MAX | %d |", EVREAD_STREAMS_MAX);
	says("\n| EVREAD_TYPES_MAX_BYTES | %u |", EVREAD_TYPES_MAX_BYTES);
}

/* --- the example */

static void write_example(struct evwrite *w, bool swap)
{
	static const struct evfield fields[] = { { "n", EV_INT32 }, { "ok", EV_STRING } };
	static const struct evconst constants[] = { { "dev", { .kind = EV_INT32, .i32 = 3 } } };
	static const struct evtype t = { .name = "io.read",
					 .level = EV_INFO,
					 .nfield = 2,
					 .nconst = 1,
					 .field = fields,
					 .constant = constants };
	const struct evvalue v[] = { { .kind = EV_INT32, .i32 = 258 },
				     { .kind = EV_STRING, .n = 3, .s = "yes" } };
	struct err e = { 0 };

	evwrite_init(w, MADE_STREAM, swap, 0);
	ck_assert_int_eq(evwrite_define(w, 1, &t, &e), 0);
	ck_assert_int_eq(
		evwrite_event(w, 1, &(struct event){ .type = &t, .ticks = 1000000000, .value = v },
			      &e),
		0);
	ck_assert_int_eq(evwrite_cut(w, true, &e), 0);
}

/* The bytes of the block ```hex NAME; # begins a comment. */
static void bytes_of(const char *name, struct buf *out)
{
	char fence[32];
	const char *p;

	snprintf(fence, sizeof(fence), "```hex %s\n", name);
	p = strstr(buf_str(&page), fence);
	ck_assert_ptr_nonnull(p);
	for (p += strlen(fence); strncmp(p, "```", 3);) {
		if (*p == '#') {
			p = strchr(p, '\n');
		} else if (isspace((unsigned char)*p)) {
			p++;
		} else {
			char pair[3] = { p[0], p[1], 0 };
			uint64_t v;

			ck_assert_int_eq(str_to_hex64(pair, &v), 0);
			buf_putc(out, (uint8_t)v);
			p += 2;
		}
	}
}

static void compare(const char *name, bool swap)
{
	struct buf b = BUF_INIT(4096);
	struct evwrite w;

	bytes_of(name, &b);
	write_example(&w, swap);
	for (size_t i = 0; i < w.out.n; i++)
		printf("%02x%s", w.out.p[i], i % 16 == 15 ? "\n" : " ");
	ck_assert_uint_eq(b.n, w.out.n);
	ck_assert_mem_eq(b.p, w.out.p, b.n);
	evwrite_done(&w);
	buf_done(&b);
}

static void is_example(void *arg, const struct event *ev)
{
	unsigned *n = arg;

	ck_assert_str_eq(ev->type->name, "io.read");
	ck_assert_int_eq(ev->type->constant[0].value.i32, 3);
	ck_assert_int_eq(ev->value[0].i32, 258);
	ck_assert(ev->value[1].n == 3 && !memcmp(ev->value[1].s, "yes", 3));
	ck_assert_int_eq(ev->wall_ns, 1000000000);
	++*n;
}

TEST(the_examples_are_what_is_written_and_read)
{
	static const char *const name[] = { "little", "big" };
	const uint16_t one = 1;
	bool is_little = *(const uint8_t *)&one;

	for (int big = 0; big < 2; big++) {
		struct buf b = BUF_INIT(4096);
		struct evread_report r;
		unsigned n = 0;

		compare(name[big], is_little == big);
		bytes_of(name[big], &b);
		made_read(&b, is_example, &n, &r);
		ck_assert(n == 1 && evread_is_clean(&r));
		buf_done(&b);
	}
}

SUITE_WITH("docs", set_up, clean_up)
