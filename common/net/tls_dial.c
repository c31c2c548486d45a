/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void dial_next(struct tls_chan *t);

static void drop_socket(struct tls_chan *t)
{
	loop_fd_free(t->watch);
	t->watch = NULL;
	if (t->sock.fd >= 0)
		close(t->sock.fd);
	t->sock.fd = -1;
}

static void note_failure(struct tls_chan *t, int sys)
{
	const char *hint = "is it running there?";

	if (sys == EHOSTUNREACH || sys == ENETUNREACH)
		hint = "is there a route to it?";
	else if (sys == EMFILE || sys == ENFILE)
		hint = "this process has no descriptor left";
	else if (sys == ETIMEDOUT)
		hint = "is the host up?";
	err_set(&t->hs->last, ERR_SYS, "cannot reach %s: %s; %s", t->c.remote, strerrordesc_np(sys),
		hint);
	t->hs->last.sys = sys;
}

/* Starts to connect to address i. On failure returns false, and stores the reason. */
static bool try_connect(struct tls_chan *t, unsigned i)
{
	struct addrs *a = &t->hs->addrs;
	int fd = socket(a->at[i].ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	sock_name(t->c.remote, &a->at[i]);
	t->sock.fd = fd;
	if (fd >= 0 && !sock_tune(fd, NULL) &&
	    (!connect(fd, (const struct sockaddr *)&a->at[i], a->n[i]) || errno == EINPROGRESS)) {
		t->watch = loop_fd_new(
			t->c.loop,
			&(struct loop_watch){
				.fd = fd, .what = LOOP_WRITE, .fn = tls_on_ready, .arg = t },
			&t->hs->last);
		if (t->watch)
			return true;
	} else {
		note_failure(t, errno);
	}
	drop_socket(t);
	return false;
}

/* Divides the remaining time equally among the remaining addresses. */
static void share_time(struct tls_chan *t)
{
	struct addrs *a = &t->hs->addrs;
	nsec_t left = t->give_up_at - loop_now(t->c.loop);

	t->timer_at = loop_now(t->c.loop) + left / (a->count - a->next + 1);
	loop_timer_arm_at(t->timer, t->timer_at);
}

static void dial_next(struct tls_chan *t)
{
	struct addrs *a = &t->hs->addrs;

	while (a->next < a->count) {
		if (try_connect(t, a->next++)) {
			share_time(t);
			return;
		}
	}
	chan_fail_later(&t->c, &t->hs->last);
}

static void start_tls(struct tls_chan *t)
{
	struct err why = { 0 };

	loop_timer_cancel(t->timer);
	t->timer_at = 0;
	if (tls_shake_start(t, &why))
		chan_fail(&t->c, &why);
	else
		tls_shake(t);
}

/* Called when the socket is connected or has failed, or when its time is over. */
void tls_dial_ready(struct tls_chan *t)
{
	int sys = 0;
	socklen_t n = sizeof(sys);
	struct sockaddr_storage peer;
	socklen_t peer_n = sizeof(peer);

	if (getsockopt(t->sock.fd, SOL_SOCKET, SO_ERROR, &sys, &n))
		sys = errno;
	else if (!sys && getpeername(t->sock.fd, (struct sockaddr *)&peer, &peer_n))
		sys = ETIMEDOUT;
	if (!sys) {
		start_tls(t);
		return;
	}
	note_failure(t, sys);
	drop_socket(t);
	dial_next(t);
}

static void on_resolved(void *arg, const struct addrs *found, const char *why_not)
{
	struct tls_chan *t = arg;

	t->hs->resolve = NULL;
	if (why_not) {
		err_set(&t->hs->last, ERR_AGAIN, "the name %.60s cannot be looked up: %s",
			t->c.remote, why_not);
	} else {
		t->hs->addrs = *found;
		err_set(&t->hs->last, ERR_AGAIN, "the name %.60s has no address", t->c.remote);
	}
	dial_next(t);
}

static int start(struct tls_chan *t, const struct net_target *to, struct err *e)
{
	struct addrs *a = &t->hs->addrs;

	if (!sock_addr(&a->at[0], &a->n[0], to->host, to->port, NULL)) {
		a->count = 1;
		dial_next(t);
		return 0;
	}
	str_copy(t->c.remote, sizeof(t->c.remote), to->host);
	t->hs->resolve = resolve_start(t->c.loop, to, on_resolved, t, e);
	if (!t->hs->resolve)
		return -ERR_SYS;
	tls_deadline(t);
	return 0;
}

int tls_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
	     struct chan **out, struct err *e)
{
	struct tls_chan *t;
	int rc;

	if (!str_is_name(to->host, strlen(to->host)))
		return err_set(e, ERR_INVALID, "the host to dial is not a name");
	t = tls_chan_new(ctx, false, e);
	if (!t)
		return -ERR_NOMEM;
	t->c.h = *h;
	t->c.enrol = to->enrols;
	rc = admit_init(&t->hs->admit, to->expect, e);
	if (to->enrols)
		str_copy(t->hs->admit.pin, PKI_PIN_BYTES, to->expect->pin);
	if (!rc)
		rc = start(t, to, e);
	if (rc)
		chan_close(&t->c, NULL);
	else
		*out = &t->c;
	return rc;
}
