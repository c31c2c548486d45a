/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lm/real.h"

#include "common/base/str.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct real real;

static void on_refused(void *arg, int32_t pid, const struct err *why)
{
	real.refusals++;
	real.last = *why;
}

void real_dir(void)
{
	str_copy(real.dir, sizeof(real.dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(real.dir));
	snprintf(real.path, sizeof(real.path), "%s/lm.sock", real.dir);
}

int real_registration(const char *memfd, int listener, struct err *e)
{
	return registration_open(&(struct registration_conf){ .loop = real.loop,
							      .host = real.host,
							      .procs = real.procs,
							      .memfd = memfd,
							      .socket = real.path,
							      .listener = listener,
							      .uid = getuid(),
							      .refused = on_refused },
				 &real.registration, e);
}

int real_open_with(const char *memfd, int listener, struct err *e)
{
	struct procs_conf c = { .epoch = 1 };

	real.loop = loop_new();
	tickbase_init(&real.ticks);
	ck_assert_int_eq(host_linux_open("/", real.loop, &real.host, e), 0);
	c.loop = real.loop;
	c.host = real.host;
	c.ticks = &real.ticks;
	ck_assert_int_eq(procs_open(&c, &real.procs, e), 0);
	return real_registration(memfd, listener, e);
}

void real_open(void)
{
	struct err e = { 0 };

	real_dir();
	ck_assert_msg(real_open_with("omig-realtest", 0, &e) == 0, "%s", e.text);
}

void real_close(void)
{
	registration_close(real.registration);
	procs_free(real.procs);
	host_free(real.host);
	loop_free(real.loop);
	ck_assert_int_ne(access(real.path, F_OK), 0);
	rmdir(real.dir);
}

int real_dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	str_copy(a.sun_path, sizeof(a.sun_path), real.path);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : fd;
}

void real_hand_over(int to, const void *p, size_t n, const int *fds, size_t nfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	if (nfd) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(nfd * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfd * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfd * sizeof(int));
	}
	if (sendmsg(to, &m, MSG_NOSIGNAL) < 0)
		_exit(90);
}

struct seg_register real_reg_of(const struct fake_segment *s)
{
	return (struct seg_register){ .magic = SEG_REGISTER_MAGIC,
				      .version = SEG_VERSION,
				      .pid = getpid(),
				      .bytes = s->bytes };
}

int real_listener(const char *at, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	str_copy(a.sun_path, sizeof(a.sun_path), at);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

void real_register(int rank)
{
	struct fake_segment s;
	struct seg_register r;

	fake_segment_open(&s, getpid(), rank, (uint32_t)getpid());
	r = real_reg_of(&s);
	real_hand_over(real_dial(), &r, sizeof(r), &s.fd, 1);
}

void real_wait_as_rank(void)
{
	real_register(3);
	for (;;)
		pause();
}

pid_t real_start_rank(void)
{
	pid_t pid = fork();

	if (pid == 0)
		real_wait_as_rank();
	return pid;
}

void real_end(pid_t pid, int sig, int *status)
{
	kill(pid, sig);
	ck_assert_int_eq(waitpid(pid, status, 0), pid);
}
