/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of real runs equal those in docs/protocol.md. */
#include "common/base/file.h"
#include "neko/real/realwire.h"
#include "proto/frame.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <string.h>

#define PAGE "docs/protocol.md"
#define LINE_BYTES 24
#define KEY 0x1122334455667788

/* A block of it: ```neko NAME, the bytes in hexadecimal, ```. */
static void says(const char *name, const uint8_t *p, size_t n)
{
	struct buf page = BUF_INIT(1 << 20), want = BUF_INIT(1 << 16);
	struct err e = { 0 };

	ck_assert_msg(!file_read(PAGE, page.max, 0, &page, &e), "%s", e.text);
	buf_printf(&want, "\n```neko %s\n", name);
	for (size_t i = 0; i < n; i++)
		buf_printf(&want, "%02x%c", p[i],
			   i + 1 == n || (i + 1) % LINE_BYTES == 0 ? '\n' : ' ');
	buf_printf(&want, "```\n");
	ck_assert_msg(strstr(buf_str(&page), buf_str(&want)), "%s has not:%s", PAGE,
		      buf_str(&want));
	buf_done(&page);
	buf_done(&want);
}

static void says_frame(const char *name, struct buf *b)
{
	ck_assert(!b->failed);
	says(name, b->p, b->n);
	buf_clear(b);
}

TEST(frames_of_master_factory_and_process_are_those_of_the_page)
{
	static const char text[] = "a = b\n";
	const struct realwire_start start = { .m = 2,
					      .id = 1,
					      .seed = 7,
					      .address = 0x0a000001,
					      .silence = 10 * NSEC_PER_SEC,
					      .wants_delays = true,
					      .text = text,
					      .ntext = sizeof(text) - 1 };
	const struct realwire_ready ready = { 2, { 40000, 40001 } };
	const struct realwire_gone gone = { 5 * NSEC_PER_SEC, 1000, "ended" };
	const nsec_t epoch = NSEC_PER_SEC, sample[] = { 1, 5, 1003, 0 };
	struct sockaddr_in a[2] = { { .sin_port = htons(40000) }, { .sin_port = htons(40002) } };
	struct buf b = BUF_INIT(1000);

	a[0].sin_addr.s_addr = htonl(0x0a000001);
	a[1].sin_addr.s_addr = htonl(0x0a000002);
	realwire_put_start(&b, &start);
	says_frame("start", &b);
	realwire_put_ready(&b, &ready);
	says_frame("ready", &b);
	realwire_put_words(&b, REALWIRE_FAILED, "no room");
	says_frame("failed", &b);
	realwire_put_peers(&b, KEY, a, 2);
	says_frame("peers", &b);
	realwire_put_times(&b, REALWIRE_GO, &epoch, 1);
	says_frame("go", &b);
	realwire_put_times(&b, REALWIRE_STOP, NULL, 0);
	says_frame("stop", &b);
	realwire_put_times(&b, REALWIRE_KILL, NULL, 0);
	says_frame("kill", &b);
	realwire_put_gone(&b, &gone);
	says_frame("gone", &b);
	realwire_put_times(&b, REALWIRE_PING, sample, 1);
	says_frame("ping", &b);
	realwire_put_times(&b, REALWIRE_PONG, (nsec_t[]){ 1, 1003 }, 2);
	says_frame("pong", &b);
	realwire_put_times(&b, REALWIRE_SAMPLE, sample, 4);
	says_frame("sample", &b);
	realwire_put_times(&b, REALWIRE_CRASH, NULL, 0);
	says_frame("crash", &b);
	buf_done(&b);
}

TEST(a_block_of_events_and_delays_is_that_of_the_page)
{
	const struct realwire_block head = { .until = 9,
					     .sent = 3,
					     .delivered = 2,
					     .count = 1,
					     .ndelay = 1,
					     .is_last = true,
					     .offset = -5,
					     .error = 11,
					     .drift = 1.5,
					     .drift_error = 0.5,
					     .stop_at = NEKO_NEVER };
	const struct neko_event v = { 1, 5, "enter", 0.25, 3, 4, "ok", 2 };
	const struct neko_delay d = { 6, 7, 1, 2, 8, 40, 3, 0, 5 };
	struct buf b = BUF_INIT(1000);
	size_t mark = realwire_block(&b, &head);

	realwire_event(&b, &v);
	realwire_delay(&b, &d);
	ck_assert_int_eq(frame_end(&b, mark), 0);
	says_frame("block", &b);
	buf_done(&b);
}

TEST(datagrams_are_those_of_the_page)
{
	static const uint32_t numbers[3] = { 8, 0, 1 };
	static const struct neko_world_ops no_ops;
	struct neko_world w = { 0 };
	uint8_t bytes[REALWIRE_HEADER_BYTES + sizeof(numbers) + 2];
	struct neko_msg *m;

	ck_assert_int_eq(world_init(&w, &no_ops, 3, 1, NULL), 0);
	m = world_msg_new(&w, 1, 2);
	m->from = 2;
	m->type = 5;
	m->sent_at = 77;
	m->sent_error = 12;
	memcpy(m->content, "hi", 2);
	says("datagram", bytes, realwire_datagram(bytes, KEY, 3, 9, m));
	says("datagram to a group", bytes, realwire_group_datagram(bytes, KEY, numbers, 3, m));
	world_msg_unref(&w, m);
	world_done(&w);
}

SUITE("realdocs")
