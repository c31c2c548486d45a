/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of processes and threads. */
#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 65536 /* examined when segments are searched for */
/* Per process, the lowest; libapp uses number 900 or the next free one for a segment. */
#define FDS_MAX 1024

/* Indexes of /proc/PID/stat after the state, which is field 3. */
enum stat_field {
	STAT_PARENT = 0,
	STAT_MINOR = 6,
	STAT_MAJOR = 8,
	STAT_USER = 10,
	STAT_SYSTEM = 11,
	STAT_PRIORITY = 14,
	STAT_THREADS = 16,
	STAT_START = 18,
	STAT_SIZE = 19,
	STAT_RESIDENT = 20,
	STAT_SWAPS = 32,
	STAT_PROCESSOR = 35,
	STAT_BLOCKED = 38, /* ticks; 0 without delay accounting */
	STAT_EXIT = 48,
	STAT_NFIELDS = 49
};

/* Uses the clock in which the kernel notes starts; it continues while the host sleeps. */
static double age_of(const struct host_linux *h, int64_t start)
{
	struct timespec now;
	double age;

	if (clock_gettime(CLOCK_BOOTTIME, &now))
		return -1;
	age = (double)now.tv_sec + (double)now.tv_nsec / 1e9 -
	      (double)start / (double)h->ticks_per_s;
	return age > 0 ? age : 0; /* within the tick that it began in */
}

/*
 * The name may hold blanks and brackets: it ends at the last one. Returns the position behind it;
 * NULL: the text is not such a file.
 */
static const char *stat_numbers(const char *text, int64_t v[STAT_NFIELDS])
{
	const char *close = strrchr(text, ')');

	if (!close || close[1] != ' ' || !close[2])
		return NULL;
	return text_numbers(close + 3, v, STAT_NFIELDS) == STAT_NFIELDS ? close : NULL;
}

static int parse_stat(const struct host_linux *h, const char *text, struct host_figures *f)
{
	int64_t v[STAT_NFIELDS] = { 0 };
	const char *open = strchr(text, '('), *close = stat_numbers(text, v);
	size_t n;

	if (!open || !close || close < open)
		return -ERR_NOTFOUND;
	n = (size_t)(close - open - 1);
	n = n < sizeof(f->name) ? n : sizeof(f->name) - 1;
	memcpy(f->name, open + 1, n);
	f->name[n] = 0;
	f->state = close[2];
	f->parent = (int32_t)v[STAT_PARENT];
	f->minor_faults = v[STAT_MINOR];
	f->major_faults = v[STAT_MAJOR];
	f->user_s = (double)v[STAT_USER] / (double)h->ticks_per_s;
	f->system_s = (double)v[STAT_SYSTEM] / (double)h->ticks_per_s;
	f->priority = v[STAT_PRIORITY];
	f->threads = v[STAT_THREADS];
	f->start = (uint64_t)v[STAT_START];
	f->age_s = age_of(h, v[STAT_START]);
	f->size = v[STAT_SIZE];
	f->resident = v[STAT_RESIDENT] * h->page_size;
	f->swaps = v[STAT_SWAPS];
	f->exit_code = v[STAT_EXIT];
	return 0;
}

static int64_t kib_field(const char *text, const char *key)
{
	int64_t kib;

	return text_field(text, key, &kib) ? kib * 1024 : -1;
}

static void parse_status(const char *text, struct host_figures *f)
{
	const char *p = text_find(text, "Uid:");
	int64_t uid[3];

	if (p && text_numbers(p, uid, 3) == 3) {
		f->uid = uid[0];
		f->one_uid = uid[0] == uid[1] && uid[1] == uid[2];
	}
	text_field(text, "Gid:", &f->gid);
	f->inner_pid = text_inner_pid(text);
	f->resident_max = kib_field(text, "VmHWM:");
	f->stack = kib_field(text, "VmStk:");
}

static void parse_signals(const char *text, struct host_figures *f)
{
	uint64_t own = 0;

	f->has_signals = text_hex_field(text, "SigPnd:", &own) &&
			 text_hex_field(text, "ShdPnd:", &f->sig_pending) &&
			 text_hex_field(text, "SigBlk:", &f->sig_blocked) &&
			 text_hex_field(text, "SigIgn:", &f->sig_ignored) &&
			 text_hex_field(text, "SigCgt:", &f->sig_caught);
	f->sig_pending |= own;
}

static void parse_io(const char *text, struct host_figures *f)
{
	const struct {
		const char *name;
		int64_t *to;
	} field[] = {
		{ "syscr:", &f->read_calls },		{ "syscw:", &f->write_calls },
		{ "rchar:", &f->read_bytes },		{ "wchar:", &f->write_bytes },
		{ "read_bytes:", &f->disk_read_bytes }, { "write_bytes:", &f->disk_written_bytes },
	};

	for (size_t i = 0; i < ARRAY_LEN(field); i++)
		text_field(text, field[i].name, field[i].to);
	if (f->disk_read_bytes >= 0)
		f->read_blocks = f->disk_read_bytes / 512;
	if (f->disk_written_bytes >= 0)
		f->write_blocks = f->disk_written_bytes / 512;
}

static int figures_at(struct host_linux *h, const char *path, unsigned what, struct host_figures *f)
{
	const char *text;

	if (what & HOST_FIGURES_STAT && parse_stat(h, linux_text(h, "%s/stat", path), f))
		return -ERR_NOTFOUND;
	if (what & (HOST_FIGURES_STATUS | HOST_FIGURES_SIGNALS)) {
		text = linux_text(h, "%s/status", path);
		if (!*text)
			return -ERR_NOTFOUND;
		if (what & HOST_FIGURES_STATUS)
			parse_status(text, f);
		if (what & HOST_FIGURES_SIGNALS)
			parse_signals(text, f);
	}
	if (what & HOST_FIGURES_IO)
		parse_io(linux_text(h, "%s/io", path), f);
	return 0;
}

/* status has them of one thread only, so a process is the sum over its threads. */
static void add_switches(struct host_linux *h, const char *path, struct host_figures *f)
{
	const char *text = linux_text(h, "%s/status", path);
	int64_t v;

	if (text_field(text, "voluntary_ctxt_switches:", &v))
		f->voluntary = (f->voluntary < 0 ? 0 : f->voluntary) + v;
	if (text_field(text, "nonvoluntary_ctxt_switches:", &v))
		f->involuntary = (f->involuntary < 0 ? 0 : f->involuntary) + v;
}

/* schedstat: ns on a processor, ns ready without one, runs. A kernel that counts none has zeros. */
static void add_run_delay(struct host_linux *h, const char *path, struct host_figures *f)
{
	int64_t v[3];

	if (text_numbers(linux_text(h, "%s/schedstat", path), v, 3) < 3 || v[2] <= 0)
		return;
	f->run_delay_s = (f->run_delay_s < 0 ? 0 : f->run_delay_s) + (double)v[1] * 1e-9;
}

static void add_block_delay(struct host_linux *h, const char *path, struct host_figures *f)
{
	int64_t v[STAT_NFIELDS];

	if (!stat_numbers(linux_text(h, "%s/stat", path), v))
		return;
	f->block_delay_s = (f->block_delay_s < 0 ? 0 : f->block_delay_s) +
			   (double)v[STAT_BLOCKED] / (double)h->ticks_per_s;
}

#define FIGURES_OF_THREADS \
	(HOST_FIGURES_SWITCHES | HOST_FIGURES_RUN_DELAY | HOST_FIGURES_BLOCK_DELAY)

/* Figures that the kernel has of each thread only. */
static void add_threads(struct host_linux *h, int32_t pid, unsigned what, struct host_figures *out)
{
	int32_t tid[HOST_THREADS_MAX];
	size_t n = HOST_THREADS_MAX;
	char path[64];

	if (what & HOST_FIGURES_BLOCK_DELAY &&
	    linux_number(h, 0, "proc/sys/kernel/task_delayacct") != 1)
		what &= ~(unsigned)HOST_FIGURES_BLOCK_DELAY;
	if (!(what & FIGURES_OF_THREADS) || linux_threads(&h->host, pid, tid, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "proc/%d/task/%d", (int)pid, (int)tid[i]);
		if (what & HOST_FIGURES_SWITCHES)
			add_switches(h, path, out);
		if (what & HOST_FIGURES_RUN_DELAY)
			add_run_delay(h, path, out);
		if (what & HOST_FIGURES_BLOCK_DELAY)
			add_block_delay(h, path, out);
	}
}

/* Virtual machines have no such file. */
static double frequency(struct host_linux *h, int32_t pid)
{
	int64_t v[STAT_NFIELDS];
	int64_t khz;

	if (!stat_numbers(linux_text(h, "proc/%d/stat", (int)pid), v) ||
	    !text_number(linux_text(h, "sys/devices/system/cpu/cpu%lld/cpufreq/scaling_cur_freq",
				    (long long)v[STAT_PROCESSOR]),
			 &khz) ||
	    khz <= 0)
		return -1;
	return (double)khz * 1e3;
}

int linux_figures(struct host *host, int32_t pid, unsigned what, struct host_figures *out,
		  struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	char path[64];

	host_figures_clear(out);
	snprintf(path, sizeof(path), "proc/%d", (int)pid);
	if (pid <= 0 || figures_at(h, path, what, out))
		return err_set(e, ERR_NOTFOUND, "there is no process %d", (int)pid);
	add_threads(h, pid, what, out);
	if (what & HOST_FIGURES_GROUP)
		out->throttled_s = linux_throttled(h, pid);
	if (what & HOST_FIGURES_FREQUENCY)
		out->frequency_hz = frequency(h, pid);
	return 0;
}

int linux_thread_figures(struct host *host, const int32_t pid_tid[2], unsigned what,
			 struct host_figures *out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	char path[64];

	host_figures_clear(out);
	snprintf(path, sizeof(path), "proc/%d/task/%d", (int)pid_tid[0], (int)pid_tid[1]);
	if (figures_at(h, path, what, out))
		return err_set(e, ERR_NOTFOUND, "there is no thread %d", (int)pid_tid[1]);
	return 0;
}

int linux_threads(struct host *host, int32_t pid, int32_t *tid, size_t *n)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	*n = linux_numbered((struct host_linux *)host, path, tid, *n);
	return *n ? 0 : -ERR_NOTFOUND;
}

int linux_strings(struct host *host, int32_t pid, bool environment, struct buf *out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "proc/%d/%s", (int)pid, environment ? "environ" : "cmdline");
	rc = file_read_at(h->root, path, HOST_STRINGS_MAX_BYTES, out, e);
	if (rc == -ERR_SYS && (errno == EACCES || errno == EPERM))
		return err_set(e, ERR_DENIED, "process %d does not show its environment", (int)pid);
	return rc;
}

/* The links read "/memfd:NAME (deleted)". */
static bool is_memfd(struct host_linux *h, const char *path, const char *name)
{
	char link[300], want[300];
	ssize_t n = readlinkat(h->root, path, link, sizeof(link) - 1);

	if (n < 0)
		return false;
	link[n] = 0;
	snprintf(want, sizeof(want), "/memfd:%s (deleted)", name);
	return !strcmp(link, want);
}

static void look_into(struct host_linux *h, int32_t pid, const char *name, host_on_memfd_fn fn,
		      void *arg)
{
	int32_t number[FDS_MAX];
	char path[64];
	size_t n;
	int fd;

	snprintf(path, sizeof(path), "proc/%d/fd", (int)pid);
	n = linux_numbered(h, path, number, FDS_MAX);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "proc/%d/fd/%d", (int)pid, (int)number[i]);
		if (!is_memfd(h, path, name))
			continue;
		fd = openat(h->root, path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0)
			fn(arg, pid, fd);
	}
}

int linux_each_memfd(struct host *host, const char *name, host_on_memfd_fn fn, void *arg)
{
	struct host_linux *h = (struct host_linux *)host;
	int32_t *pid = malloc(PROCESSES_MAX * sizeof(*pid));
	struct stat st;
	char path[32];
	size_t n;

	if (!pid)
		return -ERR_NOMEM;
	n = linux_numbered(h, "proc", pid, PROCESSES_MAX);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "proc/%d", (int)pid[i]);
		if (pid[i] == h->own_pid || fstatat(h->root, path, &st, 0) < 0 ||
		    st.st_uid != h->uid)
			continue;
		look_into(h, pid[i], name, fn, arg);
	}
	free(pid);
	return 0;
}
