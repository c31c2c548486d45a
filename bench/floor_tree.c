/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/floor_tree.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

struct floor_tree {
	int fd; /* connection to the inner process */
	pid_t inner;
};

static void send_word(int fd, uint64_t w)
{
	if (write(fd, &w, sizeof(w)) != sizeof(w))
		_exit(0);
}

static uint64_t get_word(int fd)
{
	uint64_t w;
	size_t have = 0;

	while (have < sizeof(w)) {
		ssize_t n = read(fd, (char *)&w + have, sizeof(w) - have);

		if (n <= 0)
			_exit(0);
		have += (size_t)n;
	}
	return w;
}

static int listen_loopback(struct sockaddr_in *at)
{
	socklen_t n = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)at, n) || listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *)at, &n))
		bench_fail("no listening socket for the floor");
	return fd;
}

static void no_delay(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
}

static int dial_loopback(const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		_exit(1);
	no_delay(fd);
	return fd;
}

static int accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		bench_fail("the floor lost a process");
	no_delay(fd);
	return fd;
}

static _Noreturn void leaf(const struct sockaddr_in *at)
{
	int fd = dial_loopback(at);

	for (;;)
		send_word(fd, get_word(fd));
}

static _Noreturn void inner(const struct sockaddr_in *up, unsigned leaves)
{
	struct sockaddr_in at;
	int listener = listen_loopback(&at), *fd = calloc(leaves, sizeof(*fd)), top;

	for (unsigned i = 0; i < leaves; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			leaf(&at);
		}
		fd[i] = accept_one(listener);
	}
	top = dial_loopback(up);
	for (;;) {
		uint64_t word = get_word(top), sum = 0;

		for (unsigned i = 0; i < leaves; i++)
			send_word(fd[i], word);
		for (unsigned i = 0; i < leaves; i++)
			sum += get_word(fd[i]);
		send_word(top, sum);
	}
}

struct floor_tree *floor_tree_start(unsigned leaves)
{
	struct floor_tree *t = calloc(1, sizeof(*t));
	struct sockaddr_in at;
	int listener = listen_loopback(&at);

	if (!t)
		bench_fail("out of memory");
	t->inner = fork();
	if (t->inner == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		inner(&at, leaves);
	}
	t->fd = accept_one(listener);
	close(listener);
	return t;
}

int64_t floor_tree_wave(struct floor_tree *t)
{
	int64_t begin = bench_now();

	send_word(t->fd, 1);
	get_word(t->fd);
	return bench_now() - begin;
}

void floor_tree_stop(struct floor_tree *t)
{
	close(t->fd);
	kill(t->inner, SIGKILL);
	waitpid(t->inner, NULL, 0);
	free(t);
}
