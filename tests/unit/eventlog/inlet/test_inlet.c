/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of each form, in pieces of any size, become the same blocks. */
#include "eventlog/evwrite.h"
#include "eventlog/inlet/inlet.h"
#include "eventlog/send/evsend_hello.h"
#include "tests/suite.h"

#define LINE "DATE=20020329210355.443568 HOST=a PROG=b LVL=Info NL.EVNT=x.y V=5\n"

static struct inlet *in;
static struct evline *line;
static struct buf seen; /* events: name, fields */
static uint64_t dropped, last_place, blocks;
static unsigned refusals; /* of the next blocks */
static struct err e;

/* Each block is read by itself. */
static int on_block(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place)
{
	struct evread *r;
	struct event ev;
	size_t used;

	(void)arg;
	if (refusals) {
		refusals--;
		return -ERR_AGAIN;
	}
	r = evread_new();
	ck_assert_int_ge(evread_push(r, p, head->bytes, true, &used), 0);
	while (evread_next(r, &ev))
		buf_printf(&seen, "%s/%u ", ev.type->name, ev.type->nfield + ev.type->nconst);
	ck_assert_uint_eq(evread_report(r)->undescribed, 0);
	dropped = evread_report(r)->dropped;
	last_place = place;
	blocks++;
	evread_free(r);
	return 0;
}

static void set_up(void)
{
	line = evline_new(EVWORDS_AUTO);
	in = inlet_new(&(struct inlet_conf){ .on_block = on_block, .stream = 5, .line = line });
	ck_assert_ptr_nonnull(in);
	buf_init(&seen, 1 << 20);
	dropped = last_place = blocks = 0;
	refusals = 0;
	e = (struct err){ 0 };
}

static void clean_up(void)
{
	inlet_free(in);
	free(line);
	buf_done(&seen);
}

static int feed(const void *bytes, size_t n, size_t piece)
{
	const uint8_t *p = bytes;
	int rc = 0;

	for (size_t at = 0; !rc && at < n;) {
		size_t room, part = n - at < piece ? n - at : piece;
		uint8_t *to = inlet_room(in, &room);

		part = part < room ? part : room;
		memcpy(to, p + at, part);
		at += part;
		rc = inlet_push(in, part, false, &e);
		while (rc == -ERR_AGAIN)
			rc = inlet_push(in, 0, false, &e);
	}
	return rc;
}

static void finish(void)
{
	ck_assert_int_eq(inlet_push(in, 0, true, &e), 0);
}

static void make_log(struct buf *out, uint64_t stream, bool is_lossy)
{
	static const struct evconst host = { "HOST", { .kind = EV_STRING, .n = 1, .s = "h" } };
	static const struct evtype who = { .name = "", .nconst = 1, .constant = &host };
	static const struct evfield field = { "n", EV_INT32 };
	static const struct evtype type = { .name = "e", .nfield = 1, .field = &field };
	struct evvalue v = { .kind = EV_INT32 };
	struct evwrite w;

	evwrite_init(&w, stream, false, 0);
	for (int i = 0; i < 3; i++) {
		if (is_lossy && i == 1)
			w.head.seq++, w.head.first += 4;
		ck_assert(!evwrite_define(&w, 0, &who, NULL) &&
			  !evwrite_define(&w, 1, &type, NULL));
		ck_assert(
			!evwrite_event(&w, 1, &(struct event){ .type = &type, .value = &v }, NULL));
		ck_assert(!evwrite_cut(&w, i == 2, NULL));
	}
	buf_put(out, w.out.p, w.out.n);
	evwrite_done(&w);
}

static const size_t pieces[] = { 1, 2, 7, 64, 4096, 1 << 20 };

TEST_EACH(lines_of_text_become_events, i, ARRAY_LEN(pieces))
{
	const char text[] = "# a comment\n\n" LINE LINE "no event\n" LINE;

	ck_assert_int_eq(feed(text, sizeof(text) - 2, pieces[i]), 0); /* the last \n is missing */
	finish();
	ck_assert_str_eq(buf_str(&seen), "x.y/3 x.y/3 x.y/3 ");
	ck_assert_uint_eq(inlet_report(in)->events, 3);
	ck_assert_uint_eq(inlet_report(in)->bad_lines, 1);
	ck_assert(!inlet_acknowledges(in));
}

TEST_EACH(blocks_with_acknowledgements_are_given_out_unchanged, i, ARRAY_LEN(pieces))
{
	struct buf log = BUF_INIT(1 << 20);

	buf_puts(&log, EVSEND_HELLO);
	make_log(&log, 9, false);
	refusals = 2;
	ck_assert_int_eq(feed(log.p, log.n, pieces[i]), 0);
	ck_assert(inlet_acknowledges(in) && inlet_is_known(in));
	ck_assert_uint_eq(last_place, log.n - strlen(EVSEND_HELLO));
	ck_assert_uint_eq(blocks, 3);
	finish();
	ck_assert_uint_eq(blocks, 3);
	buf_done(&log);
}

TEST_EACH(an_event_log_keeps_its_constants_and_its_losses, i, ARRAY_LEN(pieces))
{
	struct buf log = BUF_INIT(1 << 20);

	make_log(&log, 9, true);
	ck_assert_int_eq(feed(log.p, log.n, pieces[i]), 0);
	finish();
	ck_assert_str_eq(buf_str(&seen), "e/2 e/2 e/2 ");
	ck_assert_uint_eq(dropped, 4);
	ck_assert_uint_eq(last_place, 0);
	buf_done(&log);
}

TEST(bytes_that_are_no_block_end_a_connection)
{
	ck_assert_int_eq(feed(EVSEND_HELLO, strlen(EVSEND_HELLO), 99), 0);
	ck_assert_int_eq(
		feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n----------------------------------------"
		     "----------------",
		     80, 99),
		-ERR_PROTO);
}

TEST(a_line_that_is_too_long_is_skipped_and_counted)
{
	size_t n = 1 << 20;
	char *text = malloc(n);

	memset(text, 'x', n);
	ck_assert_int_eq(feed(LINE, strlen(LINE), 999), 0);
	ck_assert_int_eq(feed(text, n, 65536), 0);
	ck_assert_int_eq(feed("\n" LINE, strlen(LINE) + 1, 999), 0);
	finish();
	ck_assert_uint_eq(inlet_report(in)->events, 2);
	ck_assert_uint_eq(inlet_report(in)->bad_lines, 1);
	free(text);
}

TEST(lines_that_each_have_a_type_of_their_own_are_bounded)
{
	char text[200];

	for (int i = 0; i < 3000; i++) {
		int n = snprintf(text, sizeof(text),
				 "DATE=20020329210355.443568 HOST=a PROG=b NL.EVNT=x%d.y V=5\n", i);

		ck_assert_int_eq(feed(text, (size_t)n, 999), 0);
	}
	finish();
	ck_assert_uint_eq(inlet_report(in)->events, 3000);
	ck_assert_ptr_nonnull(strstr(buf_str(&seen), "x0.y/"));
	ck_assert_ptr_nonnull(strstr(buf_str(&seen), "x2999.y/"));
}

TEST(a_flush_sends_the_waiting_block)
{
	ck_assert_int_eq(feed(LINE, strlen(LINE), 999), 0);
	ck_assert(inlet_has_rest(in));
	ck_assert_uint_eq(blocks, 0);
	ck_assert_int_eq(inlet_flush(in, &e), 0);
	ck_assert_uint_eq(blocks, 1);
	ck_assert(!inlet_has_rest(in));
}

TEST(a_datagram_is_blocks_or_lines)
{
	struct buf log = BUF_INIT(1 << 20);

	make_log(&log, 9, false);
	ck_assert_int_eq(inlet_datagram(in, log.p, log.n, &e), 0);
	ck_assert_uint_eq(blocks, 3);
	ck_assert_int_eq(inlet_datagram(in, log.p, log.n - 1, &e), 0); /* the last one is cut */
	ck_assert_uint_eq(blocks, 5);
	ck_assert_uint_gt(inlet_report(in)->skipped_bytes, 0);
	ck_assert_int_eq(inlet_datagram(in, (const uint8_t *)LINE LINE, 2 * strlen(LINE) - 1, &e),
			 0);
	ck_assert_uint_eq(inlet_report(in)->events, 2);
	ck_assert_int_eq(inlet_datagram(in, (const uint8_t *)"", 0, &e), 0);
	buf_done(&log);
}

SUITE_WITH("eventlog/inlet", set_up, clean_up)
