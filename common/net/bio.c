/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A socket BIO for OpenSSL. OpenSSL's own uses write(), so that a closed connection would kill a
 * tool by SIGPIPE. It also cannot report that the kernel has no more input, which saves a system
 * call for each message.
 */
#include "common/net/internal.h"

#include <errno.h>
#include <sys/socket.h>

static bool is_retry(int err)
{
	return err == EAGAIN || err == EWOULDBLOCK || err == EINTR;
}

static int bio_write(BIO *b, const char *p, int n)
{
	struct sock_bio *s = BIO_get_data(b);
	ssize_t sent = send(s->fd, p, (size_t)n, MSG_NOSIGNAL);

	BIO_clear_retry_flags(b);
	s->sends++;
	if (sent < 0 && is_retry(errno))
		BIO_set_retry_write(b);
	return (int)sent;
}

/*
 * Follows the records by their lengths, which are not encrypted. OpenSSL does not report whether it
 * has a partial record.
 */
static void follow(struct sock_bio *s, const uint8_t *p, size_t n)
{
	while (n) {
		size_t step = s->body_left < n ? s->body_left : n;

		if (!step) {
			s->head[s->nhead++] = *p;
			step = 1;
			if (s->nhead == sizeof(s->head)) {
				s->body_left = (uint32_t)s->head[3] << 8 | s->head[4];
				s->nhead = 0;
			}
		} else {
			s->body_left -= (uint32_t)step;
		}
		p += step;
		n -= step;
	}
}

bool sock_bio_is_between(const struct sock_bio *s)
{
	return !s->nhead && !s->body_left;
}

static int bio_read(BIO *b, char *p, int n)
{
	struct sock_bio *s = BIO_get_data(b);
	ssize_t got = recv(s->fd, p, (size_t)n, 0);

	BIO_clear_retry_flags(b);
	s->drained = got < n;
	if (got < 0 && is_retry(errno)) {
		s->blocked = true;
		BIO_set_retry_read(b);
	}
	if (got > 0)
		follow(s, (const uint8_t *)p, (size_t)got);
	if (!got)
		BIO_set_flags(b, BIO_FLAGS_IN_EOF);
	return (int)got;
}

static long bio_ctrl(BIO *b, int what, long n, void *p)
{
	if (what == BIO_CTRL_EOF)
		return BIO_test_flags(b, BIO_FLAGS_IN_EOF) != 0;
	return what == BIO_CTRL_FLUSH || what == BIO_CTRL_DUP;
}

/* Frees nothing, because the sock_bio is a part of its channel. */
static int bio_destroy(BIO *b)
{
	return 1;
}

BIO *sock_bio_new(BIO_METHOD *m, struct sock_bio *s)
{
	BIO *b = BIO_new(m);

	if (!b)
		return NULL;
	BIO_set_data(b, s);
	BIO_set_init(b, 1);
	return b;
}

BIO_METHOD *sock_bio_method_new(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "omig socket");

	if (m && BIO_meth_set_write(m, bio_write) && BIO_meth_set_read(m, bio_read) &&
	    BIO_meth_set_ctrl(m, bio_ctrl) && BIO_meth_set_destroy(m, bio_destroy))
		return m;
	BIO_meth_free(m);
	return NULL;
}
