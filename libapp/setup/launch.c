/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the host's lm from inside a program that is not aware of it (common/inproc/apart.h). The
 * lm inherits its lock and the socket for registrations. So a process that starts from now on can
 * register, and may end before the lm is ready.
 */
#include "common/base/file.h"
#include "common/inproc/apart.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/hook.h"
#include "libapp/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES 65536 /* of a thread apart */

/* OMIG_LM, else libexec/omig/lm or bin/lm beside the lib/ or lib/ARCHITECTURE/ that this library is
 * in. */
static bool lm_program(char *out, size_t size)
{
	return apart_find(out, size,
			  &(struct apart_wanted){ setup_env("OMIG_LM"), "lm", hook_word });
}

/*
 * Runs fn in a thread unknown to pthreads. It shares the caller's thread-local storage, so the
 * caller waits.
 */
void launch_apart(int (*fn)(void *arg))
{
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, before;

	if (stack == MAP_FAILED)
		return;
	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) == 0) {
		if (clone(fn, stack + STACK_BYTES, flags, NULL) < 0)
			setup_say("a child process cannot be watched", errno);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	munmap(stack, STACK_BYTES);
}

/* Consumes low. */
static int out_of_the_way(int low)
{
	int fd = low < 0 ? -1 : apart_dup(low);

	if (low >= 0)
		close(low);
	return fd;
}

/* Returns false if there is none; held: another process has it. */
static bool take_lock(const char *path, bool *held)
{
	struct err e = { 0 };
	int low = -1, rc = file_lock(path, false, &low, &e);

	*held = rc == -ERR_AGAIN;
	if (rc)
		setup_say(*held ? "an lm is there, or starting" : e.text, 0);
	app_state.lm_lock = out_of_the_way(low);
	return app_state.lm_lock >= 0;
}

void launch_detach(void)
{
	if (app_state.lm_lock >= 0)
		close(app_state.lm_lock);
	if (app_state.lm_listener >= 0)
		close(app_state.lm_listener);
	app_state.lm_lock = app_state.lm_listener = -1;
}

/* Without a socket the lm makes its own. */
static void launch_with(const char *program)
{
	int listener = app_state.lm_listener, rc;
	const char *const argv[] = {
		program, "--lock-fd", "3", "--daemon", listener < 0 ? NULL : "--listen-fd",
		"4",	 NULL
	};
	const struct apart lm = { .path = program,
				  .argv = argv,
				  .fd = { -1, -1, -1, app_state.lm_lock, listener },
				  .nfd = listener < 0 ? 4 : 5 };

	rc = apart_start(&lm);
	setup_say(rc ? "cannot start an lm" : "started an lm", -rc);
}

enum launched launch_lm(const char *runtime, const char *host, const char *caid)
{
	char program[4096], path[4096];
	bool held;

	if (!lm_program(program, sizeof(program))) {
		setup_say("no lm program: set OMIG_LM", 0);
		return LAUNCH_NONE;
	}
	if (seg_lm_path(path, sizeof(path), &(struct seg_lm_name){ runtime, host, caid }, ".lock"))
		return LAUNCH_NONE;
	if (!take_lock(path, &held))
		return held ? LAUNCH_HELD : LAUNCH_NONE;
	app_state.lm_listener = out_of_the_way(register_listen(runtime, host, caid));
	launch_with(program);
	launch_detach();
	return LAUNCH_STARTED;
}
