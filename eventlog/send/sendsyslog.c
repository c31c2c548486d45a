/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends events as syslog messages: to the socket of this host in the form of syslog(3), to another
 * host by UDP as in RFC 5424. A block is acknowledged when all of its messages are sent.
 */
#include "common/base/array.h"
#include "eventlog/send/evsend_internal.h"
#include "eventlog/text/evout.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (64 * 1024)
/* messages of one block: 64 KB of control characters become 256 KB */
#define TEXTS_MAX_BYTES (64u << 20)
/* RFC 5424 requires at least 2048, and most receivers cut at 8192 */
#define MESSAGE_MAX_BYTES 8192
#define FACILITY_USER (1 << 3)

/* Returns the severity of RFC 5424 for a level; an event without a level is informational. */
static int severity(unsigned level)
{
	static const int of[] = { 6, 2, 3, 4, 6, 7, 7, 7, 7 };

	return of[level < ARRAY_LEN(of) ? level : 0];
}

/* Returns a name for the event as one word, without blanks, which would end it. */
static const char *word(char out[128], const struct event *ev, const char *name)
{
	const struct evvalue *v = evattr_find(ev, name);
	size_t n = 0;

	if (v && v->kind == EV_INT32)
		n = (size_t)snprintf(out, 128, "%d", v->i32);
	for (; v && v->kind == EV_STRING && n < v->n && n < 127; n++)
		out[n] = v->s[n] > ' ' && v->s[n] < 127 ? v->s[n] : '_';
	if (!n)
		out[n++] = '-';
	out[n] = '\0';
	return out;
}

static void put_head(const struct evsend *s, struct buf *b, const struct event *ev)
{
	int pri = FACILITY_USER | severity(ev->type->level);
	char program[128], pid[128], host[128], at[CLOCK_TEXT_BYTES];
	time_t seconds = (time_t)(ev->wall_ns / NSEC_PER_SEC);
	struct tm tm = { 0 };

	word(program, ev, "PROG");
	word(pid, ev, "pid");
	if (s->to.host[0] != '/') {
		buf_printf(b, "<%d>1 %s %s %s %s - - ", pri,
			   clock_format_rfc3339(at, ev->wall_ns, 6), word(host, ev, "HOST"),
			   program, pid);
		return;
	}
	localtime_r(&seconds, &tm);
	strftime(at, sizeof(at), "%b %e %H:%M:%S", &tm);
	buf_printf(b, "<%d>%s %s[%s]: ", pri, at, program, pid);
}

/* Appends a message with its length in front, with the event's values in their order. */
static void put_message(struct evsend *s, const struct event *ev, struct evout *text)
{
	struct buf message = BUF_INIT(TEXTS_MAX_BYTES);
	uint32_t n;

	buf_clear(&text->b);
	evout_event(text, ev);
	put_head(s, &message, ev);
	buf_put(&message, text->b.p, text->b.n ? text->b.n - 1 : 0); /* without the newline */
	n = (uint32_t)(message.n < MESSAGE_MAX_BYTES ? message.n : MESSAGE_MAX_BYTES);
	buf_put(&s->texts, &n, sizeof(n));
	buf_put(&s->texts, message.p, n);
	buf_done(&message);
}

/* Copies the bytes of the block to one piece. */
static bool take_block(struct evsend *s, struct buf *out)
{
	uint32_t events, bytes = sendring_block(&s->ring, s->sent, &events);
	struct iovec v[2];
	int n = sendring_bytes(&s->ring, s->sent, s->sent + bytes, v);

	for (int i = 0; i < n; i++)
		buf_put(out, v[i].iov_base, v[i].iov_len);
	s->sent += bytes;
	return !out->failed;
}

static void make_texts(struct evsend *s)
{
	struct buf block = BUF_INIT(EVBLOCK_MAX_BYTES);
	struct evread *r = evread_new();
	struct evout text;
	struct event ev;
	size_t used;

	evout_begin(&text, EVOUT_ULM);
	buf_clear(&s->texts);
	s->texts.max = TEXTS_MAX_BYTES;
	s->texts_at = 0;
	if (take_block(s, &block) && r && evread_push(r, block.p, block.n, true, &used) >= 0)
		while (evread_next(r, &ev))
			put_message(s, &ev, &text);
	evout_done(&text);
	evread_free(r);
	buf_done(&block);
}

static int connect_here(const struct evsend *s)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%.*s", (int)sizeof(to.sun_path) - 1,
		 s->to.host);
	if (fd < 0 || !connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		return fd;
	close(fd);
	return -1;
}

/* Returns false if the socket has no room now, or if the connection is lost. */
static bool send_texts(struct evsend *s)
{
	uint32_t n;

	while (s->texts_at < s->texts.n) {
		memcpy(&n, s->texts.p + s->texts_at, sizeof(n));
		if (send(s->fd, s->texts.p + s->texts_at + sizeof(n), n,
			 MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		    errno != EMSGSIZE) {
			if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
				evsend_drop(s);
			return false;
		}
		s->texts_at += sizeof(n) + n;
	}
	atomic_store_explicit(&s->ring.tail, s->sent, memory_order_release);
	return true;
}

static bool has_more(const struct evsend *s)
{
	return s->texts_at < s->texts.n || s->sent != atomic_load(&s->ring.head);
}

static short wants(const struct evsend *s)
{
	return has_more(s) ? POLLOUT : 0;
}

static void turn(struct evsend *s, short ready)
{
	(void)ready;
	if (s->fd < 0 && clock_mono() >= s->retry_at) {
		s->fd = s->to.host[0] == '/' ? connect_here(s) : evsend_socket(s, SOCK_DGRAM);
		if (s->fd < 0)
			evsend_drop(s);
		else
			s->pause = 0;
	}
	while (s->fd >= 0 && has_more(s)) {
		if (s->texts_at == s->texts.n)
			make_texts(s);
		if (!send_texts(s))
			return;
	}
}

const struct evsend_way evsend_syslog = { BLOCK_BYTES, wants, turn };
