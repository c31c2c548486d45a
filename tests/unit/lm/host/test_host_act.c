/* SPDX-License-Identifier: Apache-2.0 */
/* Manipulations of real processes by the Linux host: their memory, modules and threads. */
#include "common/base/str.h"
#include "lm/host/host_linux.h"
#include "tests/suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static struct host *host;
static struct host_proc *held;
static pid_t child;
static int reported; /* reports of the child */

static uint8_t variable[64] = "as it was";
static const char *constant = "never to be changed";
static char unset[8192];
static pthread_t second;
static int out_fd;

/* --- the child: two threads; each signal is answered with the tid that got it */

static void on_signal(int sig)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (write(out_fd, &tid, sizeof(tid)) < 0)
		_exit(91);
}

static void *wait_for_ever(void *arg)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (write(out_fd, &tid, sizeof(tid)) < 0)
		_exit(92);
	for (;;)
		pause();
	return NULL;
}

static void be_child(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	memset(unset, 7, 16);
	sigaction(SIGUSR1, &a, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&second, NULL, wait_for_ever, NULL) != 0)
		_exit(93);
	for (;;)
		pause();
}

static int32_t heard(void)
{
	int32_t tid = 0;

	ck_assert_int_eq(read(reported, &tid, sizeof(tid)), sizeof(tid));
	return tid;
}

static int32_t begin(void)
{
	int both[2];

	ck_assert_int_eq(host_linux_open("/", NULL, &host, NULL), 0);
	ck_assert_int_eq(pipe(both), 0);
	reported = both[0];
	out_fd = both[1];
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		be_child();
	ck_assert_int_eq(host_proc_open(host, child, &held, NULL), 0);
	return heard();
}

static void finish(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	host_proc_close(held);
	host_free(host);
}

static struct host_memory at(const void *p, size_t n, uint8_t *bytes, bool is_write)
{
	return (struct host_memory){ .addr = (uintptr_t)p,
				     .block = n,
				     .stride = n,
				     .count = 1,
				     .bytes = bytes,
				     .is_write = is_write };
}

TEST(memory_is_read_and_written_in_the_other_process_only)
{
	uint8_t seen[16], say[] = "as it is";
	struct host_memory m = at(variable, 10, seen, false);

	begin();
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
	ck_assert_mem_eq(seen, "as it was", 10);
	m = at(variable, sizeof(say), say, true);
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
	ck_assert_uint_eq(m.done, sizeof(say));
	m = at(variable, sizeof(say), seen, false);
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
	ck_assert_mem_eq(seen, say, sizeof(say));
	ck_assert_mem_eq(variable, "as it was", 10);
	finish();
}

TEST(blocks_keep_their_distance)
{
	uint8_t seen[6], say[] = "XXYYZZ";
	struct host_memory m = { (uintptr_t)unset + 100, 2, 10, 3, say, true, 0 };

	begin();
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
	m = (struct host_memory){ (uintptr_t)unset + 99, 2, 20, 2, seen, false, 0 };
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
	ck_assert_mem_eq(seen, "\0X\0Z", 4);
	finish();
}

TEST(helper_writes_read_only_memory_of_the_program)
{
	uint8_t say[] = "now", seen[4];
	struct host_memory m = at(constant, 4, say, true);
	int rc;

	begin();
	rc = host_proc_memory(held, &m, NULL);
	if (!rc) { /* a kernel may keep this for tracers (proc_mem.force_override) */
		m = at(constant, 4, seen, false);
		ck_assert_int_eq(host_proc_memory(held, &m, NULL), 0);
		ck_assert_mem_eq(seen, say, 4);
		ck_assert_mem_eq(constant, "neve", 4);
	} else {
		ck_assert_int_eq(rc, -ERR_SYS);
		ck_assert_uint_eq(m.done, 0);
	}
	finish();
}

TEST(the_first_address_that_is_not_there_is_reported)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct err e = { 0 };
	struct host_memory m;
	uint8_t seen[32];
	char want[40];

	ck_assert_ptr_ne(two, MAP_FAILED);
	ck_assert_int_eq(munmap(two + page, page), 0);
	begin();
	m = at(two + page - 16, 32, seen, false);
	ck_assert_int_eq(host_proc_memory(held, &m, &e), -ERR_SYS);
	ck_assert_uint_eq(m.done, 16);
	snprintf(want, sizeof(want), "0x%llx", (unsigned long long)(uintptr_t)(two + page));
	ck_assert_msg(strstr(e.text, want) != NULL, "%s", e.text);
	finish();
}

TEST(a_process_that_was_reaped_has_no_memory_and_no_threads)
{
	uint8_t seen[4];
	struct host_memory m = at(variable, 4, seen, false);
	int32_t tid = begin();

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(host_proc_memory(held, &m, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_proc_modules(held, NULL, NULL, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_signal(held, tid, SIGUSR1, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_priority(held, tid, 1, NULL), -ERR_NOTFOUND);
	finish();
}

TEST(a_zombie_has_no_memory)
{
	uint8_t seen[4];
	struct host_memory m = at(variable, 4, seen, false);
	siginfo_t si;

	begin();
	kill(child, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &si, WEXITED | WNOWAIT), 0);
	ck_assert_int_lt(host_proc_memory(held, &m, NULL), 0);
	finish();
}

/* --- modules */

static bool has(uint64_t start, uint64_t len, const void *p)
{
	return (uintptr_t)p >= start && (uintptr_t)p < start + len;
}

struct seen {
	size_t n;
	struct host_module first;
	char path[4096];
	bool libc;
};

static void on_module(void *arg, const struct host_module *m)
{
	struct seen *s = arg;

	if (!s->n++) {
		s->first = *m;
		snprintf(s->path, sizeof(s->path), "%.*s", (int)m->npath, m->path);
	}
	s->libc |= has(m->code_start, m->code_len, (const void *)(uintptr_t)getpid);
}

TEST(the_program_comes_first_with_code_data_and_bss)
{
	struct seen s = { 0 };
	char exe[4096] = "";

	begin();
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_eq(host_proc_modules(held, on_module, &s, NULL), 0);
	ck_assert_uint_gt(s.n, 1);
	ck_assert_str_eq(s.path, exe);
	ck_assert(has(s.first.code_start, s.first.code_len, (const void *)(uintptr_t)begin));
	ck_assert(has(s.first.data_start, s.first.data_len, variable));
	ck_assert(has(s.first.bss_start, s.first.bss_len, unset + sizeof(unset) - 1));
	ck_assert(!has(s.first.data_start, s.first.data_len, unset));
	ck_assert_uint_eq(s.first.bss_start, s.first.data_start + s.first.data_len);
	ck_assert(s.libc);
	finish();
}

/* --- threads */

TEST(a_signal_reaches_this_thread_and_no_other)
{
	int32_t tid = begin();

	ck_assert_int_ne(tid, child);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(host_thread_signal(held, tid, SIGUSR1, NULL), 0);
		ck_assert_int_eq(heard(), tid);
		ck_assert_int_eq(host_thread_signal(held, child, SIGUSR1, NULL), 0);
		ck_assert_int_eq(heard(), child);
	}
	ck_assert_int_eq(host_thread_signal(held, tid, NSIG, NULL), -ERR_INVALID);
	finish();
}

TEST(a_thread_of_another_process_is_not_reached)
{
	int32_t ours = (int32_t)syscall(SYS_gettid);

	begin();
	ck_assert_int_eq(host_thread_signal(held, ours, SIGKILL, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_signal(held, 1, SIGKILL, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_signal(held, 0, SIGKILL, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_signal(held, -1, SIGKILL, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_priority(held, ours, 1, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_thread_priority(held, 0, 1, NULL), -ERR_NOTFOUND);
	finish();
}

/* The tests may run at any nice value; only root has one below it. */
static int one_nicer(void)
{
	int own = getpriority(PRIO_PROCESS, 0);

	return own < 19 ? own + 1 : 19;
}

TEST(a_priority_is_of_one_thread)
{
	int own = getpriority(PRIO_PROCESS, 0),
	    other = own == 19 && getuid() == 0 ? 7 : one_nicer();
	int32_t tid = begin();

	ck_assert_int_eq(host_thread_priority(held, tid, other, NULL), 0);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)tid), other);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)child), own);
	finish();
}

/* For a user without rights: a nice value increases and does not decrease. */
TEST(a_refused_priority_names_the_remedy)
{
	const struct rlimit none = { 0, 0 };
	struct err e = { 0 };
	int32_t tid;

	ck_assert_int_eq(setrlimit(RLIMIT_NICE, &none), 0);
	if (getuid() == 0)
		ck_assert_int_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
	prctl(PR_SET_DUMPABLE, 1);
	tid = begin();
	ck_assert_int_eq(host_thread_priority(held, tid, one_nicer(), NULL), 0);
	ck_assert_int_eq(host_thread_priority(held, tid, one_nicer() - 1, &e), -ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(e.text, "ulimit -e"));
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)tid), one_nicer());
	finish();
}

/* --- files */

static int read_file(const char *path, int64_t offset, size_t max, struct buf *b)
{
	buf_clear(b);
	return host_file(host, &(struct host_file){ path, offset, max }, b, NULL);
}

TEST(a_part_of_a_file_is_read_and_nothing_that_is_none)
{
	struct buf whole = BUF_INIT(100000), part = BUF_INIT(100000);
	char dir[] = "/tmp/omig-test-XXXXXX", link[64], fifo[64];

	ck_assert_int_eq(host_linux_open("/", NULL, &host, NULL), 0);
	ck_assert_int_eq(read_file("/proc/version", 0, 90000, &whole), 0);
	ck_assert_uint_gt(whole.n, 20);
	ck_assert_int_eq(read_file("/proc/version", 6, 7, &part), 0);
	ck_assert_uint_eq(part.n, 7);
	ck_assert_mem_eq(part.p, whole.p + 6, 7);
	ck_assert_int_eq(read_file("/proc/version", 1000000, 7, &part), 0);
	ck_assert_uint_eq(part.n, 0);
	ck_assert_int_eq(read_file("proc/version", 0, 7, &part), -ERR_INVALID);
	ck_assert_int_eq(read_file("/proc/no such file", 0, 7, &part), -ERR_SYS);
	ck_assert_int_eq(read_file("/proc", 0, 7, &part), -ERR_DENIED);
	ck_assert_int_eq(read_file("/dev/zero", 0, 7, &part), -ERR_DENIED);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	ck_assert_int_eq(symlink("/proc/version", link), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(read_file(link, 0, 7, &part), -ERR_DENIED);
	ck_assert_int_eq(read_file(fifo, 0, 7, &part), -ERR_DENIED);
	unlink(link);
	unlink(fifo);
	rmdir(dir);
	buf_done(&whole);
	buf_done(&part);
	host_free(host);
}

/* --- holdable processes */

static void assert_not_held(int32_t pid)
{
	struct host_proc *p;

	ck_assert_int_eq(host_proc_open(host, pid, &p, NULL), -ERR_NOTFOUND);
}

TEST(some_processes_are_never_held)
{
	pid_t pid;

	ck_assert_int_eq(host_linux_open("/", NULL, &host, NULL), 0);
	assert_not_held(0);
	assert_not_held(1);
	assert_not_held(-1);
	assert_not_held(INT32_MIN);
	assert_not_held(INT32_MAX);
	assert_not_held(getpid());
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_not_held(pid); /* a zombie */
	waitpid(pid, NULL, 0);
	assert_not_held(pid);
	host_free(host);
}

TEST(a_process_of_another_user_is_never_held)
{
	int ready[2];
	pid_t pid;
	char c;

	if (getuid() != 0)
		return;
	ck_assert_int_eq(host_linux_open("/", NULL, &host, NULL), 0);
	/* Its uid, its effective uid alone, its saved uid alone. */
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(pipe(ready), 0);
		pid = fork();
		if (pid == 0) {
			int rc = i == 0	  ? setresuid(NOBODY, NOBODY, NOBODY)
				 : i == 1 ? setresuid(0, NOBODY, 0)
					  : setresuid(0, 0, NOBODY);

			if (!rc && write(ready[1], "x", 1) == 1)
				for (;;)
					pause();
			_exit(92);
		}
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
		assert_not_held(pid);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(ready[0]);
		close(ready[1]);
	}
	host_free(host);
}

TEST(an_lm_without_descriptors_reports_that)
{
	struct host_proc *p;
	struct rlimit before, none;
	struct err e = { 0 };
	pid_t pid;
	int next, rc;

	ck_assert_int_eq(host_linux_open("/", NULL, &host, NULL), 0);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	next = dup(STDIN_FILENO);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ (rlim_t)next, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = host_proc_open(host, pid, &p, &e);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(rc, -ERR_SYS);
	ck_assert_int_eq(e.sys, EMFILE);
	host_free(host);
}

SUITE("lm host acts")
