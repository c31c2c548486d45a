/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why a host cannot execute a service. The daemons decide whether it can; this file only
 * finds the reason.
 */
#include "common/base/file.h"
#include "common/base/str.h"
#include "tools/selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a number from /proc; -1 when there is none. */
static int64_t setting(const char *path)
{
	struct buf b = BUF_INIT(64);
	int64_t v = -1;

	if (!file_read_at(AT_FDCWD, path, 63, &b, NULL)) {
		while (b.n && b.p[b.n - 1] == '\n')
			b.n--;
		buf_putc(&b, 0);
		str_to_i64((const char *)b.p, INT64_MIN, INT64_MAX, &v);
	}
	buf_done(&b);
	return v;
}

/* Returns 0 if a child can be traced, else errno. */
static int try_ptrace(void)
{
	pid_t child = fork();
	int code = 0;

	if (child == 0) {
		pause();
		_exit(0);
	}
	if (child < 0)
		return errno;
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL) < 0)
		code = errno;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	return code;
}

static const char *lacks_ptrace(const char *bin, char *words, size_t size)
{
	int64_t scope = setting("/proc/sys/kernel/yama/ptrace_scope");
	char path[FILE_PATH_BYTES];
	int code;

	if (file_join(path, sizeof(path), bin, "lm-trace", NULL) || access(path, X_OK) < 0) {
		snprintf(words, size, "lm-trace is not installed");
		return words;
	}
	if (scope > 0 && (geteuid() != 0 || scope > 2)) {
		snprintf(words, size, "kernel.yama.ptrace_scope is %lld", (long long)scope);
		return words;
	}
	code = try_ptrace();
	snprintf(words, size, "no ptrace: %s", strerror(code));
	return code ? words : NULL;
}

static int try_perf(bool is_breakpoint)
{
	struct perf_event_attr a = { .size = sizeof(a), .exclude_kernel = 1, .exclude_hv = 1 };
	int fd;

	if (is_breakpoint) {
		a.type = PERF_TYPE_BREAKPOINT;
		a.bp_type = HW_BREAKPOINT_X;
		a.bp_addr = (uint64_t)(uintptr_t)try_ptrace;
		a.bp_len = sizeof(long);
		a.sample_period = 1;
	} else {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = PERF_COUNT_SW_DUMMY;
		a.context_switch = 1;
	}
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static const char *lacks_perf(bool is_breakpoint, char *words, size_t size)
{
	int64_t paranoid = setting("/proc/sys/kernel/perf_event_paranoid");
	int code = try_perf(is_breakpoint);

	if (code && paranoid > 2)
		snprintf(words, size, "kernel.perf_event_paranoid is %lld", (long long)paranoid);
	else
		snprintf(words, size, "no %s: %s",
			 is_breakpoint ? "breakpoints" : "perf_event_open", strerror(code));
	return code ? words : NULL;
}

const char *selftest_lacks(enum selftest_need need, bool is_own_monitor, const char *bin,
			   char *words, size_t size)
{
	switch (need) {
	case NEED_OWN_MONITOR:
		return is_own_monitor ? NULL : "not done to a monitor that others may use";
	case NEED_REGISTERS:
#if !defined(__x86_64__)
		return "only on x86-64";
#endif
	case NEED_PTRACE:
		return lacks_ptrace(bin, words, size);
	case NEED_SWITCHES:
		return lacks_perf(false, words, size);
	case NEED_BREAKPOINTS:
		return lacks_perf(true, words, size);
	case NEED_NOTHING:
		break;
	}
	return NULL;
}
