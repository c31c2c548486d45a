/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "libapp/setup/function.h"
#include "libapp/hot/hook.h"
#include "libapp/setup/probe.h"
#include "libapp/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* High numbers, because programs may expect low descriptors; the first that the limit allows. */
static const int high_fd[] = { 900, 200, 100 };

/* the memfd, to recognise it: the program may have closed or replaced it */
#define FD_DETACHED (-2) /* in a forked child */

static struct stat made;

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = setup_env(name);
	uint64_t v;

	return s && !str_to_u64(s, 1, UINT32_MAX, &v) ? v : otherwise;
}

static void plan_make(struct seg_header *h)
{
	memset(h, 0, sizeof(*h));
	seg_plan(h, CALL_COUNT, (unsigned)env_number("OMIG_THREADS", SEG_THREADS_DEFAULT),
		 env_number("OMIG_RING", SEG_RING_DEFAULT_BYTES));
}

/* Growing a file beyond this limit is a signal that kills, not an error. */
static bool size_is_allowed(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) == 0 &&
	       (l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= bytes);
}

static int move_up(int fd)
{
	int up;

	for (size_t i = 0; i < ARRAY_LEN(high_fd); i++) {
		up = fcntl(fd, F_DUPFD_CLOEXEC, high_fd[i]);
		if (up >= 0) {
			close(fd);
			return up;
		}
	}
	return fd;
}

/*
 * Allocates all memory now: full memory is then an error here, not SIGBUS at the first store. Linux
 * before 5.16 stops at any signal, and a program with a profiler gets many: they are blocked.
 */
static bool fill(int fd, uint64_t bytes)
{
	sigset_t all, before;
	bool done;

	sigfillset(&all);
	if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0)
		return false;
	done = !fallocate(fd, 0, 0, (off_t)bytes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return done;
}

static bool fill_and_seal(int fd, uint64_t bytes)
{
	return fill(fd, bytes) &&
	       fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
	       fstat(fd, &made) == 0;
}

static int memfd_make(const char *caid, uint64_t bytes)
{
	char name[sizeof(SEG_MEMFD_PREFIX) + SEG_CAID_CHARS];
	int fd;

	snprintf(name, sizeof(name), SEG_MEMFD_PREFIX "%s", caid);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	fd = move_up(fd);
	if (fill_and_seal(fd, bytes))
		return fd;
	close(fd);
	return -1;
}

/* The hook page is laid over hook_word, so that switching a hook on is a store of the lm. */
static bool map_hooks(int fd, const struct seg_header *plan)
{
	long page = sysconf(_SC_PAGESIZE);

	if (page <= 0 || SEG_PAGE_BYTES % page || (uintptr_t)hook_word % (uintptr_t)page)
		return false;
	return mmap(hook_word, sizeof(hook_word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fd, (off_t)plan->hook_offset) != MAP_FAILED &&
	       mmap(function_word, sizeof(function_word), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, (off_t)FUNCTION_WORD_OFFSET(plan)) != MAP_FAILED &&
	       mmap(collective_word, sizeof(collective_word), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, (off_t)COLLECTIVE_WORD_OFFSET(plan)) != MAP_FAILED;
}

static bool map_all(int fd, const struct seg_header *plan)
{
	void *base = mmap(NULL, plan->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return false;
	memcpy(base, plan, sizeof(*plan));
	app_state.base = base;
	app_state.bytes = plan->segment_bytes;
	app_state.plan = *plan;
	app_state.fd = fd;
	if (map_hooks(fd, plan))
		return true;
	app_state.base = NULL;
	app_state.fd = -1;
	munmap(base, plan->segment_bytes);
	return false;
}

bool segment_make(const char *caid)
{
	struct seg_header plan;
	int fd;

	plan_make(&plan);
	app_state.ticks = ticks_source_best();
	fd = size_is_allowed(plan.segment_bytes) ? memfd_make(caid, plan.segment_bytes) : -1;
	if (fd < 0) {
		setup_say("no memory for the segment, not watched", errno);
		return false;
	}
	if (!map_all(fd, &plan)) {
		setup_say("cannot map the segment, not watched", errno);
		close(fd);
		return false;
	}
	return true;
}

static void zero_pages(void *at, size_t bytes)
{
	/*
	 * If this fails the page stays as it is: MPI does not permit calls in a forked child
	 * anyway.
	 */
	if (mmap(at, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		return;
}

/* Maps one page of words: the segment's, or zeros. */
static void lay_page(void *at, uint64_t offset, bool on)
{
	/*
	 * Of length 0: a second mapping of shared pages. The descriptor may be closed. Uses the
	 * system call: libraries below MPI replace mremap() by a variant without the last argument.
	 */
	if (!on)
		zero_pages(at, SEG_PAGE_BYTES);
	else if (app_state.fd != FD_DETACHED)
		syscall(SYS_mremap, app_state.base + offset, 0, SEG_PAGE_BYTES,
			MREMAP_MAYMOVE | MREMAP_FIXED, at);
}

void segment_hooks(bool on)
{
	int saved = errno;

	lay_page(hook_word, app_state.plan.hook_offset, on);
	for (unsigned m = 0; probe_page(m); m++)
		lay_page(probe_page(m), app_state.plan.probe_word_offset + m * SEG_PAGE_BYTES, on);
	lay_page(function_word, FUNCTION_WORD_OFFSET(&app_state.plan), on);
	lay_page(collective_word, COLLECTIVE_WORD_OFFSET(&app_state.plan), on);
	errno = saved;
}

bool segment_is_held(void)
{
	struct stat now;

	return app_state.fd >= 0 && fstat(app_state.fd, &now) == 0 && now.st_ino == made.st_ino &&
	       now.st_dev == made.st_dev;
}

void segment_detach(void)
{
	if (!app_state.base)
		return;
	segment_hooks(false);
	zero_pages(app_state.base, app_state.bytes);
	if (segment_is_held())
		close(app_state.fd);
	app_state.fd = FD_DETACHED;
}
