/* SPDX-License-Identifier: Apache-2.0 */
/* A program without MPI is watched with its children: this host's lm searches for it. */
#include "common/base/file.h"
#include "common/ring/chosen.h"
#include "common/ring/seg.h"
#include "common/ring/seglisten.h"
#include "tools/launch/launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_BYTES 256
#define LOCK_FD 3
#define LISTEN_FD 4

/* Connects to the lm's socket without waiting. Returns -1 if no lm listens there. */
static int dial(const char *socket_path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	memcpy(to.sun_path, socket_path, strlen(socket_path) + 1);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Returns false if no lm listens there. Never waits. */
static bool wake(const char *socket_path)
{
	struct seg_register r = { .magic = SEG_REGISTER_MAGIC,
				  .version = SEG_VERSION,
				  .pid = getpid() };
	int fd = dial(socket_path);
	bool is_there =
		fd >= 0 && send(fd, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(r);

	if (fd >= 0)
		close(fd);
	return is_there;
}

/* Descriptors that an lm inherits. listener -1: it opens its own. */
struct heritage {
	int lock, listener;
};

static void become_lm(const char *path, const struct heritage *l)
{
	const char *argv[] = { path, "--lock-fd", "3", "--daemon", NULL, "4", NULL };
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (fork() != 0)
		_exit(0);
	unsetenv("LD_PRELOAD");
	unsetenv(CHOSEN_VARIABLE);
	for (int fd = 0; fd < LOCK_FD; fd++)
		dup2(null, fd);
	if (l->listener >= 0 && dup2(l->listener, LISTEN_FD) == LISTEN_FD)
		argv[4] = "--listen-fd";
	if (dup2(l->lock, LOCK_FD) == LOCK_FD)
		execv(path, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Moves a descriptor above those that the lm expects; consumes low. */
static int out_of_the_way(int low)
{
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LISTEN_FD + 1);

	if (low >= 0)
		close(low);
	return fd;
}

/*
 * Starts an lm with the lock held: of several starters only one starts it. Its socket listens
 * before the program begins: registrations wait there while the lm starts. The program that
 * replaces this process by exec has no child of it.
 */
static void start(const char *path, const char *lock_path, const char *socket_path)
{
	struct heritage l = { -1, -1 };
	int low = -1, status;
	pid_t pid;

	if (file_lock(lock_path, false, &low, NULL))
		return;
	l.lock = out_of_the_way(low);
	l.listener = l.lock < 0 ? -1 : out_of_the_way(seg_listen(socket_path));
	pid = l.lock < 0 ? -1 : fork();
	if (pid == 0)
		become_lm(path, &l);
	if (pid > 0)
		waitpid(pid, &status, 0);
	close(l.lock);
	close(l.listener);
}

static bool find_places(const char *conn, char *lock, char *socket_path)
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES] = "", caid[SEG_CAID_CHARS + 1];

	if (gethostname(host, sizeof(host) - 1) < 0 || file_runtime_dir(runtime, NULL))
		return false;
	seg_caid(conn, caid);
	return !seg_lm_path(lock, FILE_PATH_BYTES, &(struct seg_lm_name){ runtime, host, caid },
			    ".lock") &&
	       !seg_lm_path(socket_path, sizeof(((struct sockaddr_un *)NULL)->sun_path),
			    &(struct seg_lm_name){ runtime, host, caid }, ".sock");
}

/*
 * True for a process that a launcher of MPI programs has started: there libomig warns, in rank
 * 0.
 */
static bool is_rank(void)
{
	return getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK") || getenv("PMIX_RANK");
}

int launch_check_lm(const struct launch *l, struct err *e)
{
	char lock[FILE_PATH_BYTES], socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)],
		why[SEG_OTHER_VERSION_BYTES], mark[16];
	uint32_t version;
	int fd;

	if (is_rank() || !find_places(l->conn, lock, socket_path))
		return 0;
	version = seg_lm_version(socket_path);
	fd = version && version != SEG_VERSION ? dial(socket_path) : -1;
	if (fd < 0)
		return 0; /* a dead lm is replaced */
	close(fd);
	snprintf(mark, sizeof(mark), "%u", version);
	setenv(SEG_OTHER_LM_VARIABLE, mark, 1);
	seg_other_version(why, sizeof(why), version, SEG_VERSION);
	return err_set(e, ERR_UNSUPPORTED, "%s", why);
}

void launch_start_lm(const struct launch *l)
{
	char lock[FILE_PATH_BYTES], socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	if (find_places(l->conn, lock, socket_path) && !wake(socket_path))
		start(l->lm, lock, socket_path);
}

void launch_choose(const struct launch *l, const char *program)
{
	char lock[FILE_PATH_BYTES], socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)],
		mark[32];
	const char *disable = getenv("OMIG_DISABLE");

	unsetenv(CHOSEN_VARIABLE); /* set by an outer omig run */
	if (chosen_is_launcher(program) || (disable && *disable && strcmp(disable, "0") != 0) ||
	    !find_places(l->conn, lock, socket_path))
		return;
	if (!wake(socket_path))
		start(l->lm, lock, socket_path);
	snprintf(mark, sizeof(mark), "%ld", (long)getpid());
	setenv(CHOSEN_VARIABLE, mark, 1);
}
