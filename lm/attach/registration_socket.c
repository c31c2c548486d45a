/* SPDX-License-Identifier: Apache-2.0 */
/* The socket for registration: one connection, one message with one descriptor, no reply. */
#include "lm/attach/registration_internal.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/ring/seglisten.h"
#include "lm/attach/chosen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ACCEPTS_MAX 256 /* per turn */
/*
 * Per message, by the kernel (SCM_MAX_FD): descriptors without room are closed in our own context.
 */
#define SCM_FDS_MAX 253
#define REST_NS (500 * NSEC_PER_MSEC)

struct visitor {
	struct list link;
	struct registration *registration;
	int fd;
	int32_t pid; /* as the kernel reports it */
	struct loop_fd *watch;
	struct loop_timer *patience;
};

/* Closes a connection. Descriptors that were sent and not received are closed with the socket. */
static void leave_socket(struct registration *n, int fd)
{
	struct pollfd unread = { fd, POLLIN, 0 };

	shutdown(fd, SHUT_WR);
	if (poll(&unread, 1, 0) == 0)
		close(fd);
	else
		closer_close(n->closer, fd);
}

static void visitor_free(struct visitor *v)
{
	list_del(&v->link);
	v->registration->nvisitor--;
	loop_fd_free(v->watch);
	loop_timer_free(v->patience);
	leave_socket(v->registration, v->fd);
	free(v);
}

/* More than one descriptor violates the protocol; each received one must be closed. */
static int take_descriptor(struct closer *closer, struct msghdr *msg)
{
	int fd = -1, n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int), n++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + at, sizeof(got));
			if (n)
				closer_close(closer, got);
			else
				fd = got;
		}
	}
	if (n > 1) {
		closer_close(closer, fd);
		fd = -1;
	}
	return fd;
}

static int check_message(const struct seg_register *r, ssize_t n, bool is_cut, struct err *e)
{
	char why[SEG_OTHER_VERSION_BYTES];

	if (n != sizeof(*r) || is_cut || r->magic != SEG_REGISTER_MAGIC)
		return err_set(e, ERR_PROTO, "its registration is not a message of libomig");
	if (r->version != SEG_VERSION) {
		seg_other_version(why, sizeof(why), SEG_VERSION, r->version);
		return err_set(e, ERR_UNSUPPORTED, "%s", why);
	}
	return 0;
}

/* True if a refusal for this version was reported: one report is enough for a build. */
static bool is_known_version(struct registration *n, uint32_t version)
{
	for (size_t i = 0; i < n->nother; i++)
		if (n->other[i] == version)
			return true;
	if (n->nother == REGISTRATION_VERSIONS_MAX)
		return true;
	n->other[n->nother++] = version;
	return false;
}

static void refuse_message(struct visitor *v, uint32_t version, const struct err *why)
{
	struct registration *n = v->registration;

	n->stats.of_other_builds += why->code == ERR_UNSUPPORTED;
	if (why->code == ERR_UNSUPPORTED && is_known_version(n, version))
		n->stats.refused++;
	else
		registration_refuse(n, v->pid, why);
}

/* Returns -1 if nothing has arrived yet. */
static int receive(struct visitor *v)
{
	struct seg_register r = { 0 };
	struct iovec iov = { &r, sizeof(r) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(SCM_FDS_MAX * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct err e = { 0 };
	struct stat st;
	ssize_t n;
	int fd;

	n = recvmsg(v->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	fd = n < 0 ? -1 : take_descriptor(v->registration->closer, &msg);
	if (n == 0 && fd < 0)
		return 0; /* the peer only tested whether an lm is present */
	check_message(&r, n, msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC), &e);
	if (!e.code && !r.bytes && !msg.msg_controllen) {
		chosen_wake(v->registration->chosen);
		return 0;
	}
	if (!e.code && fd < 0)
		err_set(&e, ERR_PROTO, "no single descriptor came with its registration");
	if (!e.code && !closer_is_memory(fd))
		err_set(&e, ERR_DENIED, "what it registers is not a memory file");
	if (!e.code && (fstat(fd, &st) < 0 || (uint64_t)st.st_size != r.bytes))
		err_set(&e, ERR_PROTO, "its segment does not have the size in its header");
	if (e.code) {
		closer_close(v->registration->closer, fd);
		refuse_message(v, r.version, &e);
		return 0;
	}
	registration_segment(v->registration, fd, v->pid, false);
	return 0;
}

static void give_spare(struct registration *n)
{
	for (size_t i = 0; i < REGISTRATION_SPARE_FDS; i++) {
		if (n->spare[i] >= 0)
			close(n->spare[i]);
		n->spare[i] = -1;
	}
}

static bool take_spare(struct registration *n)
{
	for (size_t i = 0; i < REGISTRATION_SPARE_FDS; i++) {
		if (n->spare[i] < 0)
			n->spare[i] =
				/* a duplicate of another file would keep that file open */
				eventfd(0, EFD_CLOEXEC);
		if (n->spare[i] < 0)
			return false;
	}
	return true;
}

/*
 * Without descriptors the queue stays readable. A process accepted then would be lost, because its
 * own descriptor cannot be received. So the socket is not polled for a while.
 */
static void rest(struct registration *n, const char *why)
{
	if (!n->is_resting)
		log_warn("lm", "%s: processes that come wait until others have ended", why);
	n->is_resting = true;
	loop_fd_set(n->listen, 0);
	loop_timer_arm(n->rest, REST_NS);
}

static void on_visitor(void *arg, unsigned what)
{
	struct visitor *v = arg;
	struct registration *n = v->registration;

	give_spare(n);
	if (!receive(v))
		visitor_free(v);
	if (!take_spare(n))
		rest(n, "no descriptor is left (ulimit -n)");
}

static void on_patience(void *arg)
{
	visitor_free(arg);
}

/* The kernel records which process called connect(); messages cannot change it. */
static int check_credentials(struct registration *n, int fd, int32_t *pid, struct err *e)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	*pid = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_sys(e, "SO_PEERCRED");
	*pid = peer.pid;
	if (peer.uid != n->conf.uid)
		return err_set(e, ERR_DENIED, "it belongs to user %lu, not to this user",
			       (unsigned long)peer.uid);
	if (peer.pid <= 0)
		return err_set(e, ERR_DENIED, "it is in another pid namespace");
	return 0;
}

static void wait_for(struct visitor *v)
{
	struct registration *n = v->registration;

	v->watch = loop_fd_new(
		n->conf.loop,
		&(struct loop_watch){ .fd = v->fd, .what = LOOP_READ, .fn = on_visitor, .arg = v },
		NULL);
	v->patience = loop_timer_new(n->conf.loop, on_patience, v);
	if (!v->watch || !v->patience) {
		visitor_free(v);
		return;
	}
	loop_timer_arm(v->patience, REGISTRATION_WAIT_NS);
	if (n->nvisitor > REGISTRATION_WAITING_MAX)
		visitor_free(list_entry(list_first(&n->visitors), struct visitor, link));
}

static void admit(struct registration *n, int fd)
{
	struct err e = { 0 };
	struct visitor *v;
	int32_t pid;

	if (check_credentials(n, fd, &pid, &e)) {
		registration_refuse(n, pid, &e);
		leave_socket(n, fd);
		return;
	}
	v = calloc(1, sizeof(*v));
	if (!v) {
		leave_socket(n, fd);
		return;
	}
	*v = (struct visitor){ .registration = n, .fd = fd, .pid = pid };
	list_push_back(&n->visitors, &v->link);
	n->nvisitor++;
	if (!receive(v))
		visitor_free(v);
	else
		wait_for(v);
}

/* Accepts a process. Returns false if no other one waits now. */
static bool accept_one(struct registration *n)
{
	int fd, why;

	give_spare(n);
	fd = accept4(n->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	why = fd < 0 ? errno : 0;
	if (fd >= 0)
		admit(n, fd);
	if (!take_spare(n) || why == EMFILE || why == ENFILE || why == ENOMEM) {
		rest(n, "no descriptor is left (ulimit -n)");
		return false;
	}
	if (closer_is_full(n->closer)) {
		rest(n, "descriptors that processes have sent do not close");
		return false;
	}
	return fd >= 0;
}

static void accept_some(struct registration *n, int max)
{
	for (int i = 0; i < max && accept_one(n); i++)
		;
}

static void on_listen(void *arg, unsigned what)
{
	accept_some(arg, ACCEPTS_MAX);
}

static void on_rest(void *arg)
{
	struct registration *n = arg;

	if (!take_spare(n) || closer_is_full(n->closer)) {
		loop_timer_arm(n->rest, REST_NS);
		return;
	}
	n->is_resting = false;
	loop_fd_set(n->listen, LOOP_READ);
}

static int fill_address(const struct registration *n, struct sockaddr_un *a, struct err *e)
{
	size_t len = strlen(n->socket);

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len >= sizeof(a->sun_path))
		return err_set(
			e, ERR_LIMIT,
			"%s is too long for a socket: set OMIG_RUNTIME_DIR to a shorter path",
			n->socket);
	memcpy(a->sun_path, n->socket, len + 1);
	return 0;
}

static int make_listener(struct registration *n, struct err *e)
{
	n->listen_fd = seg_listen(n->socket);
	return n->listen_fd < 0 ? err_sys(e, "the socket %s", n->socket) : 0;
}

static bool listens_at(int fd, const struct sockaddr_un *a)
{
	struct sockaddr_un bound = { 0 };
	socklen_t len = sizeof(bound) - 1, word = sizeof(int);
	int type = 0, is_listening = 0;

	return getsockname(fd, (struct sockaddr *)&bound, &len) == 0 &&
	       bound.sun_family == AF_UNIX && str_eq(bound.sun_path, a->sun_path) &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &word) == 0 && type == SOCK_SEQPACKET &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &word) == 0 && is_listening;
}

/*
 * Takes over the listening socket of the process that started this lm. Others may have registered
 * there since.
 */
static int take_listener(struct registration *n, const struct sockaddr_un *a, struct err *e)
{
	int flags;

	if (!listens_at(n->conf.listener, a))
		return err_set(e, ERR_INVALID, "descriptor %d is not the socket %s",
			       n->conf.listener, n->socket);
	n->listen_fd = n->conf.listener;
	flags = fcntl(n->listen_fd, F_GETFL);
	if (flags < 0 || fcntl(n->listen_fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(n->listen_fd, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, "descriptor %d", n->listen_fd);
	return 0;
}

/* Programs of another build read there that this lm does not watch them. */
static void note_version(const struct registration *n)
{
	char file[FILE_PATH_BYTES], text[16];
	struct err e = { 0 };
	int len = snprintf(text, sizeof(text), "%d\n", SEG_VERSION);

	if (!seg_lm_version_path(file, sizeof(file), n->socket) &&
	    file_write_atomic(file, text, (size_t)len, &e))
		log_warn("lm", "programs of another build run without a warning: %s", e.text);
}

static void remove_socket(const struct registration *n)
{
	char file[FILE_PATH_BYTES];

	if (!seg_lm_version_path(file, sizeof(file), n->socket))
		unlink(file);
	unlink(n->socket);
}

int registration_listen(struct registration *n, struct err *e)
{
	struct sockaddr_un a;
	int rc = fill_address(n, &a, e);

	if (!rc)
		rc = n->conf.listener ? take_listener(n, &a, e) : make_listener(n, e);
	if (rc)
		return rc;
	note_version(n);
	n->rest = loop_timer_new(n->conf.loop, on_rest, n);
	if (!n->rest)
		return err_nomem(e);
	n->listen = loop_fd_new(
		n->conf.loop,
		&(struct loop_watch){
			.fd = n->listen_fd, .what = LOOP_READ, .fn = on_listen, .arg = n },
		e);
	if (!n->listen)
		return -ERR_SYS;
	if (!take_spare(n))
		rest(n, "no descriptor is left (ulimit -n)");
	return 0;
}

void registration_take_waiting(struct registration *n)
{
	if (n->listen && !n->is_resting)
		accept_some(n, SEG_REGISTER_BACKLOG);
}

void registration_unlisten(struct registration *n)
{
	list_each_safe (i, &n->visitors)
		visitor_free(list_entry(i, struct visitor, link));
	loop_fd_free(n->listen);
	loop_timer_free(n->rest);
	give_spare(n);
	if (n->listen_fd < 0)
		return;
	close(n->listen_fd);
	if (!n->is_given_up)
		remove_socket(n);
}

void registration_withdraw(struct registration *n)
{
	if (n->listen_fd >= 0 && !n->is_given_up)
		remove_socket(n);
	n->is_given_up = true;
}

int registration_pass(struct registration *n)
{
	if (n->listen_fd < 0 || n->is_given_up)
		return -1;
	n->is_given_up = true;
	return dup(n->listen_fd);
}
