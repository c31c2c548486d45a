/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/who.h"

#include "common/base/buf.h"
#include "common/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROC_TEXT_MAX_BYTES (16 * 1024)
#define START_FIELD 22 /* of /proc/PID/stat, counted from 1 */

/* Reads /proc/OF/FILE into b. of: "PID" or "PID/task/TID". */
static int read_proc(struct buf *b, const char *of, const char *file)
{
	char path[80];

	buf_init(b, PROC_TEXT_MAX_BYTES);
	snprintf(path, sizeof(path), "/proc/%s/%s", of, file);
	return file_read_at(AT_FDCWD, path, PROC_TEXT_MAX_BYTES, b, NULL);
}

/* The start time in /proc/PID/stat. A name may contain ')': fields follow the last one. */
static uint64_t start_in(const char *stat)
{
	const char *p = strrchr(stat, ')');

	for (int field = 2; p && field < START_FIELD; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

uint64_t who_start(int32_t pid)
{
	char of[12];
	struct buf b;
	uint64_t start = 0;

	snprintf(of, sizeof(of), "%d", (int)pid);
	if (!read_proc(&b, of, "stat"))
		start = start_in(buf_str(&b));
	buf_done(&b);
	return start;
}

bool who_has_ended(const struct who *w)
{
	char of[32];
	struct buf b;
	const char *p = NULL;
	bool has = true;

	snprintf(of, sizeof(of), "%d/task/%d", (int)w->pid, (int)w->tid);
	if (!read_proc(&b, of, "stat")) {
		p = strrchr(buf_str(&b), ')');
		has = p && p[1] && strchr("ZXx", p[2]) && p[2];
	}
	buf_done(&b);
	return has;
}

/* Returns the number after "\nname:"; -1 when there is none. */
static int64_t field_of(const char *status, const char *name)
{
	const char *p = strstr(status, name);

	return p ? strtoll(p + strlen(name), NULL, 10) : -1;
}

int32_t who_process_of(int32_t tid)
{
	char of[12];
	struct buf b;
	int64_t pid = 0;

	snprintf(of, sizeof(of), "%d", (int)tid);
	if (!read_proc(&b, of, "status"))
		pid = field_of(buf_str(&b), "\nTgid:");
	buf_done(&b);
	return pid > 1 && pid <= INT32_MAX ? (int32_t)pid : 0;
}

bool who_is_ours(const struct who *w)
{
	char of[32];
	struct buf b;
	bool is_ours = false;

	snprintf(of, sizeof(of), "%d/task/%d", (int)w->pid, (int)w->tid);
	if (!read_proc(&b, of, "status"))
		is_ours = field_of(buf_str(&b), "\nTracerPid:") == getpid();
	buf_done(&b);
	return is_ours;
}

static int check_status(const char *status, struct err *e)
{
	int64_t tracer = field_of(status, "\nTracerPid:");

	if (field_of(status, "\nUid:") != (int64_t)getuid())
		return err_set(e, ERR_DENIED, "the process belongs to another user");
	if (tracer > 0 && tracer != getpid())
		return err_set(e, ERR_SYS,
			       "the process is traced already, by process %lld: end that one first",
			       (long long)tracer);
	return 0;
}

int who_check(const struct who *w, struct err *e)
{
	char of[32];
	struct buf b;
	int rc;

	if (w->pid <= 1 || w->pid == getpid() || !w->start || who_start(w->pid) != w->start)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	snprintf(of, sizeof(of), "%d/task/%d", (int)w->pid, (int)w->tid);
	rc = read_proc(&b, of, "status");
	if (rc)
		err_set(e, ERR_NOTFOUND, "the thread has ended");
	else
		rc = check_status(buf_str(&b), e);
	buf_done(&b);
	return rc && rc != -ERR_DENIED && rc != -ERR_SYS ? -ERR_NOTFOUND : rc;
}
