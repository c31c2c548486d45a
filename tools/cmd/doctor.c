/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/doctor.h"

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS_WANTED 1024

void doctor_add(struct doctor *d, const char *check, enum doctor_state state, const char *remedy,
		const char *fmt, ...)
{
	struct doctor_finding *f;
	va_list ap;

	if (d->n == DOCTOR_FINDINGS_MAX)
		return;
	f = &d->finding[d->n++];
	f->check = check;
	f->state = state;
	f->remedy = state == DOCTOR_OK ? NULL : remedy;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

static void check_folders(struct doctor *d)
{
	char path[FILE_PATH_BYTES];
	struct err e = { 0 };

	if (!file_state_dir(path, &e))
		doctor_add(d, "state", DOCTOR_OK, NULL, "%s", path);
	else
		doctor_add(d, "state", DOCTOR_FAIL,
			   "make it a folder of yours with mode 700, or set OMIG_STATE_DIR", "%s",
			   e.text);
	if (file_runtime_dir_taken(&e))
		doctor_add(d, "runtime", DOCTOR_NOTE, "no problem if you trust that user", "%s",
			   e.text);
	else if (!file_runtime_dir(path, &e))
		doctor_add(d, "runtime", DOCTOR_OK, NULL, "%s", path);
	else
		doctor_add(d, "runtime", DOCTOR_FAIL,
			   "make it a folder of yours with mode 700, or set OMIG_RUNTIME_DIR", "%s",
			   e.text);
}

static void check_files(struct doctor *d)
{
	static const char *const programs[] = { "mainsm", "sm" };
	char path[FILE_PATH_BYTES];
	struct launch l = { 0 };
	struct err e = { 0 };

	if (launch_find_files(&l, &e)) {
		doctor_add(d, "files", DOCTOR_FAIL, "run make install again, or set OMIG_LIBRARY",
			   "%s", e.text);
		return;
	}
	doctor_add(d, "files", DOCTOR_OK, NULL, "%s", l.lib);
	for (size_t i = 0; i < 2; i++)
		if (launch_find_daemon(path, l.bin, programs[i], &e))
			doctor_add(d, "files", DOCTOR_FAIL, "run make install again", "%s", e.text);
}

static bool exists_in(const char *folders, const char *name)
{
	char path[FILE_PATH_BYTES];
	size_t n;

	for (; folders && *folders; folders += n + (folders[n] == ':')) {
		n = strcspn(folders, ":");
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)n, folders, name) <
			    sizeof(path) &&
		    access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* The check does not load the library: an MPI library starts threads and opens devices. */
static void check_mpi(struct doctor *d)
{
	static const struct {
		const char *library, *name;
	} flavours[] = { { "libmpi.so.40", "Open MPI" }, { "libmpich.so.12", "MPICH" } };
	static const char usual[] =
		"/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/usr/lib:/usr/local/lib";
	size_t found = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!exists_in(getenv("LD_LIBRARY_PATH"), flavours[i].library) &&
		    !exists_in(usual, flavours[i].library))
			continue;
		found++;
		doctor_add(d, "mpi", DOCTOR_OK, NULL, "%s (%s)", flavours[i].name,
			   flavours[i].library);
	}
	if (!found)
		doctor_add(d, "mpi", DOCTOR_NOTE, "no problem if programs find it in another place",
			   "no MPI in the usual places");
}

static void check_memory_file(struct doctor *d)
{
	const unsigned seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fd = memfd_create("omig-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, 65536) == 0 && posix_fallocate(fd, 0, 65536) == 0 &&
	    fcntl(fd, F_ADD_SEALS, seals) == 0)
		doctor_add(d, "memfd", DOCTOR_OK, NULL, "sealed memory files work");
	else
		doctor_add(
			d, "memfd", DOCTOR_FAIL,
			"ranks cannot be watched here: a container may forbid it, or memory is full",
			"%s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void check_proc(struct doctor *d)
{
	if (access("/proc/self/stat", R_OK) < 0)
		doctor_add(d, "proc", DOCTOR_FAIL, "mount -t proc proc /proc",
			   "/proc is not mounted");
	else if (access("/proc/1/stat", R_OK) < 0)
		doctor_add(d, "proc", DOCTOR_NOTE, "your own processes are visible",
			   "/proc hides other users' processes");
	else
		doctor_add(d, "proc", DOCTOR_OK, NULL, "/proc is readable");
}

static void check_port(struct doctor *d)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 1) == 0)
		doctor_add(d, "port", DOCTOR_OK, NULL, "listening on 127.0.0.1 works");
	else
		doctor_add(d, "port", DOCTOR_FAIL, "ip link set lo up; and look at resource limits",
			   "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void check_clock(struct doctor *d)
{
	char text[CLOCK_TEXT_BYTES];

	if (clock_wall() < TIME_MIN_WALL_NS)
		doctor_add(d, "clock", DOCTOR_FAIL, "set the clock: certificates are judged by it",
			   "%s", clock_format_rfc3339(text, clock_wall(), 0));
	else
		doctor_add(d, "clock", DOCTOR_OK, NULL, "%s, stamps from %s",
			   clock_format_rfc3339(text, clock_wall(), 0),
			   ticks_source_best() == TICKS_TSC ? "the TSC" : "CLOCK_MONOTONIC");
}

static void check_limits(struct doctor *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_max < FDS_WANTED)
		doctor_add(d, "limits", DOCTOR_NOTE, "raise it: ulimit -n 4096",
			   "only %llu open files are allowed", (unsigned long long)r.rlim_max);
	else
		doctor_add(d, "limits", DOCTOR_OK, NULL, "open files");
}

static void check_preload(struct doctor *d)
{
	const char *preload = getenv("LD_PRELOAD"), *disable = getenv("OMIG_DISABLE");
	char others[4096];

	if (disable && str_eq(disable, "1"))
		doctor_add(d, "preload", DOCTOR_NOTE, "unset OMIG_DISABLE",
			   "OMIG_DISABLE=1: programs are not watched");
	launch_preload_rest(others, sizeof(others));
	if (others[0])
		doctor_add(d, "preload", DOCTOR_NOTE, "no problem; they run after libapp",
			   "LD_PRELOAD has others: %s", others);
	else
		doctor_add(d, "preload", DOCTOR_OK, NULL, "%s",
			   preload ? preload : "LD_PRELOAD is not set");
}

void doctor_check_host(struct doctor *d)
{
	check_folders(d);
	check_files(d);
	check_mpi(d);
	check_memory_file(d);
	check_proc(d);
	check_port(d);
	check_clock(d);
	check_limits(d);
	check_preload(d);
}
