/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lm-guard JOURNAL EPOCH: started by an lm when it stops a process, with the socket to the lm as
 * standard input. If the socket ends without a message, the lm has died. Then it continues the
 * processes in the lm's journal, and ends. It allocates nothing before that, and needs little
 * memory.
 */
#include "common/base/file.h"
#include "lm/hold/journal.h"
#include "lm/host/proctext.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAT_START 19 /* field 22 of /proc/PID/stat: this many numbers after the state */
#define STAT_MAX_BYTES 4096

/* Returns true at its end. The lm sends nothing; other input is ignored. */
static bool wait_for_end(int line)
{
	struct pollfd p = { .fd = line, .events = POLLIN };
	ssize_t n;
	char word;

	do {
		n = poll(&p, 1, -1) < 0 ? -1 : recv(line, &word, 1, MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static uint64_t start_of(int32_t pid)
{
	char path[32];
	struct buf b = BUF_INIT(STAT_MAX_BYTES);
	int64_t v[STAT_START] = { 0 };
	const char *close;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!file_read_at(-1, path, STAT_MAX_BYTES, &b, NULL)) {
		close = strrchr(buf_str(&b), ')'); /* the name may hold brackets */
		n = close && close[1] && close[2] ? text_numbers(close + 3, v, STAT_START) : 0;
	}
	buf_done(&b);
	return n == STAT_START ? (uint64_t)v[STAT_START - 1] : 0;
}

/*
 * Opens the descriptor first: /proc then describes that process, or one that the signal does not
 * reach.
 */
static void let_run(void *arg, const struct journal_line *l)
{
	int fd = (int)syscall(SYS_pidfd_open, l->pid, 0);

	if (fd < 0)
		return;
	if (start_of(l->pid) == l->start)
		syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
	close(fd);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct store journal;
	uint64_t epoch = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (!epoch) {
		fputs("lm-guard: lm starts this program when it needs it; see lm(8)\n", stderr);
		return 2;
	}
	if (!wait_for_end(STDIN_FILENO))
		return 1;
	journal = STORE_INIT(&journal_kind, NULL, argv[1]);
	if (!journal_replay(&journal, epoch, let_run, NULL, &e))
		return 0;
	fprintf(stderr, "lm-guard: %s\n", e.text);
	return 1;
}
