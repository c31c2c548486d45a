/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects, before the start, why a program cannot be watched: cheaply, and within a bounded time.
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/ring/seg.h"
#include "tools/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Refusals arrive at once. If a network drops packets instead, nothing is known, and the program
 * has waited this long.
 */
#define LOOK_MAX_NS (500 * NSEC_PER_MSEC)
#define STAT_BYTES 512

int launch_need_place(struct launch *l, struct err *e)
{
	char dir[FILE_PATH_BYTES],
		node[NAME_MAX_BYTES + 1] = "", path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct err taken = { 0 };
	int rc = file_runtime_dir(dir, e);

	if (rc)
		return rc;
	gethostname(node, sizeof(node) - 1);
	if (seg_lm_path(path, sizeof(path), &(struct seg_lm_name){ dir, node, "........" },
			".sock"))
		return err_set(e, ERR_LIMIT,
			       "set OMIG_RUNTIME_DIR to a path that a socket has room for, shorter "
			       "than %s",
			       dir);
	if (file_runtime_dir_taken(&taken))
		str_copy(l->warning, sizeof(l->warning), taken.text);
	return 0;
}

/* --- test for a listener */

/* Begins to connect. Returns -1 if that failed; errno has the reason. */
static int begin(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why;

	if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

/*
 * Returns true if the connection is refused; errno has the reason. A connection that is still
 * pending is not.
 */
static bool is_refused(int fd, nsec_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	nsec_t left = until - clock_mono();
	socklen_t n = sizeof(int);
	int why = 0;

	if (poll(&p, 1, left > 0 ? (int)(left / NSEC_PER_MSEC) : 0) <= 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) < 0)
		return false;
	errno = why;
	return why != 0;
}

/* Tests each of its addresses; a name whose addresses are unknown is not refused. */
static bool is_host_refused(const char *host, uint16_t port, bool with_names, nsec_t until)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICSERV | (with_names ? 0 : AI_NUMERICHOST),
				  .ai_socktype = SOCK_STREAM },
			*all;
	bool is_refusal = true;
	char service[8];
	int fd, why = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &all) != 0)
		return false;
	for (const struct addrinfo *a = all; a && is_refusal; a = a->ai_next) {
		fd = begin(a);
		is_refusal = fd < 0 || is_refused(fd, until);
		why = errno;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(all);
	errno = why;
	return is_refusal;
}

int launch_probe(const char *conn, bool with_names, struct err *e)
{
	nsec_t until = clock_mono() + LOOK_MAX_NS;
	bool is_refusal = true;
	struct connstr c;
	int rc = connstr_parse(conn, &c, e);

	for (unsigned i = 0; !rc && i < c.nhost && is_refusal; i++) {
		is_refusal = is_host_refused(c.host[i], c.port, with_names, until);
		if (is_refusal)
			err_sys(e, "nothing listens at %s port %u", c.host[i], c.port);
	}
	str_wipe(&c, sizeof(c));
	return rc ? rc : is_refusal ? -ERR_CLOSED : 0;
}

/* --- this user's mainsm on this host */

static bool read_text(const char *path, char *out, size_t size)
{
	struct buf b = BUF_INIT(size);
	bool ok = !file_read_at(AT_FDCWD, path, size - 1, &b, NULL) &&
		  str_copy(out, size, buf_str(&b));

	buf_done(&b);
	return ok;
}

/* The process id of the mainsm, and its state as in proc(5); 0: none. */
static long find_mainsm(char *state)
{
	char dir[FILE_PATH_BYTES], path[FILE_PATH_BYTES], text[24], stat[STAT_BYTES], name[32];
	int64_t pid;

	if (file_state_dir_find(dir, NULL) ||
	    file_join(path, sizeof(path), dir, "mainsm/mainsm.lock", NULL) ||
	    !read_text(path, text, sizeof(text)))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (str_to_i64(text, 1, INT32_MAX, &pid))
		return 0;
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	snprintf(name, sizeof(name), "%lld (mainsm) ", (long long)pid);
	if (!read_text(path, stat, sizeof(stat)) || !str_has_prefix(stat, name))
		return 0;
	*state = stat[strlen(name)];
	return (long)pid;
}

long launch_stopped_mainsm(void)
{
	char state = '\0';
	long pid = find_mainsm(&state);

	return state == 'T' ? pid : 0;
}

bool launch_mainsm_runs(void)
{
	char state = '\0';

	return find_mainsm(&state) != 0 && state != 'T' && state != 'Z';
}
