/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of the host's lm: a process registers there. It also makes the socket before it starts
 * an lm.
 */
#include "common/base/str.h"
#include "common/ring/seglisten.h"
#include "libapp/hot/app_state.h"
#include "libapp/setup/setup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Never waits: if the queue of the socket is full, this process is not watched. */
static int connect_lm(const struct sockaddr_un *to)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), code;

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

static bool send_segment(int to)
{
	struct seg_register reg = { .magic = SEG_REGISTER_MAGIC,
				    .version = SEG_VERSION,
				    .pid = getpid(),
				    .bytes = app_state.bytes };
	struct iovec iov = { &reg, sizeof(reg) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &app_state.fd, sizeof(int));
	return sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(reg);
}

/* The registration is refused then; `omig run` may have reported it already. */
static void warn_of_version(const char *socket_path)
{
	uint32_t lm = seg_lm_version(socket_path);
	const char *said = setup_env(SEG_OTHER_LM_VARIABLE);
	char why[SEG_OTHER_VERSION_BYTES];
	int64_t v;

	if (!lm || lm == SEG_VERSION || app_header()->w.rank != 0 ||
	    (said && !str_to_i64(said, 0, UINT32_MAX, &v) && v == lm))
		return;
	seg_other_version(why, sizeof(why), lm, SEG_VERSION);
	setup_warn(why);
}

bool register_with_lm(const char *runtime, const char *host, const char *caid)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	bool sent;
	int fd;

	if (seg_lm_path(to.sun_path, sizeof(to.sun_path),
			&(struct seg_lm_name){ runtime, host, caid }, ".sock")) {
		setup_say("the runtime directory's path is too long for a socket", 0);
		return true; /* an lm could not listen there either */
	}
	fd = connect_lm(&to);
	if (fd < 0)
		return false;
	sent = is_ours(fd) && send_segment(fd);
	setup_say(sent ? "registered" : "cannot register", 0);
	close(fd);
	warn_of_version(to.sun_path);
	return true;
}

int register_listen(const char *runtime, const char *host, const char *caid)
{
	struct sockaddr_un at;

	if (seg_lm_path(at.sun_path, sizeof(at.sun_path),
			&(struct seg_lm_name){ runtime, host, caid }, ".sock"))
		return -1;
	return seg_listen(at.sun_path);
}
