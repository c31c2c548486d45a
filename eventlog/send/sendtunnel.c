/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream to a receiver with TLS. The process at its other end, omig-tunnel, has the TLS
 * library, the certificate and the connection. So the program contains nothing of these. It may use
 * another version of that library, and a fault in the library has no effect on it.
 */
#include "common/base/str.h"
#include "common/inproc/apart.h"
#include "eventlog/send/evsend_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void set_why(struct evsend *s, const char *text, size_t n)
{
	char shown[EVSEND_WHY_BYTES - 2];

	str_escape(shown, sizeof(shown), text, n);
	inproc_lock(&s->lock);
	snprintf(s->why, sizeof(s->why), ": %s", shown);
	inproc_unlock(&s->lock);
}

void evsend_tunnel_ended(struct evsend *s)
{
	char text[EVSEND_WHY_BYTES];
	ssize_t n;

	if (s->words < 0)
		return;
	n = read(s->words, text, sizeof(text));
	if (n > 1)
		set_why(s, text, (size_t)n - (text[n - 1] == '\n'));
	close(s->words);
	s->words = -1;
}

/*
 * Makes the two ends of the streams, with descriptors that do not collide with those of the tunnel.
 */
static int start(struct evsend *s, int stream, int words)
{
	char path[4096], port[8];
	const struct apart_wanted wanted = { secure_getenv("OMIG_TUNNEL"), "omig-tunnel",
					     &evsend_tcp };
	const char *const argv[] = { path, s->to.host[0] ? s->to.host : "127.0.0.1", port, NULL };
	struct apart a = { .path = path, .argv = argv, .nfd = 3 };
	const char *missing = "the program omig-tunnel is missing: set OMIG_TUNNEL to its path";
	int rc = -ENOENT;

	snprintf(port, sizeof(port), "%u", (unsigned)s->to.port);
	a.fd[0] = apart_dup(stream);
	a.fd[1] = -1;
	a.fd[2] = apart_dup(words);
	if (!apart_find(path, sizeof(path), &wanted))
		set_why(s, missing, strlen(missing));
	else
		rc = a.fd[0] < 0 || a.fd[2] < 0 ? -EMFILE : apart_start(&a);
	if (a.fd[0] >= 0)
		close(a.fd[0]);
	if (a.fd[2] >= 0)
		close(a.fd[2]);
	return rc;
}

int evsend_tunnel(struct evsend *s)
{
	int pair[2], words[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -1;
	if (pipe2(words, O_CLOEXEC | O_NONBLOCK)) {
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	rc = start(s, pair[1], words[1]);
	close(pair[1]);
	close(words[1]);
	s->words = words[0];
	if (!rc)
		return pair[0];
	close(pair[0]);
	errno = -rc;
	return -1;
}
