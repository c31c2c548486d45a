/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a program before it is entered. */
#include "tracer/enter_internal.h"

#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tracer/gate/image.h"
#include "tracer/thread/maps.h"
#include "tracer/thread/regs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define STATUS_MAX_BYTES (16 * 1024)
#define REGS_RIP 16 /* see regs.h */

static bool read_gate(int32_t pid, uint64_t at, struct gate *out)
{
	uint64_t magic = 0;

	return !image_peek(pid, at + offsetof(struct gate, magic), &magic, sizeof(magic), NULL) &&
	       magic == GATE_MAGIC && !image_peek(pid, at, out, sizeof(*out), NULL) &&
	       gate_is_valid(out);
}

/*
 * The data of a gate begin where its code ends: other memory may join it at the other ends only.
 */
static bool find_in(int32_t pid, const char *maps, struct gate *out, uint64_t *base)
{
	struct maps_region before = { 0 }, now;

	while (maps_next(&maps, &now)) {
		if (!now.is_file && !before.is_file && before.to == now.from &&
		    str_eq(before.rights, "r-xp") && str_eq(now.rights, "rw-p") &&
		    now.from > GATE_CODE_BYTES && read_gate(pid, now.from, out)) {
			*base = now.from - GATE_CODE_BYTES;
			return true;
		}
		before = now;
	}
	return false;
}

int enter_read_proc(int32_t pid, const char *file, size_t max, struct buf *b)
{
	char path[40];

	buf_init(b, max);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return file_read_at(AT_FDCWD, path, max, b, NULL);
}

bool enter_find_gate(int32_t pid, struct gate *out, uint64_t *base)
{
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	bool found = !maps_read(pid, &b, NULL) && find_in(pid, buf_str(&b), out, base);

	buf_done(&b);
	return found;
}

int enter_poke(int mem, uint64_t addr, const void *p, size_t n, struct err *e)
{
	if (!n || pwrite(mem, p, n, (off_t)addr) == (ssize_t)n)
		return 0;
	return err_set(e, ERR_NOTFOUND, "the gate cannot be written: the process has ended");
}

bool enter_is_inside(const struct freeze *f, uint64_t base)
{
	for (size_t i = 0; i < freeze_count(f); i++) {
		uint64_t pc = 0;

		if (!regs_get(freeze_tid(f, i), REGS_RIP, 1, &pc, NULL) && pc >= base &&
		    pc - base < GATE_CODE_BYTES)
			return true;
	}
	return false;
}

/* The last number of a line of /proc/PID/status; -1: there is none. */
static int64_t last_of(const char *status, const char *name)
{
	const char *p = strstr(status, name);
	int64_t v = -1;
	char *end;

	for (p = p ? p + strlen(name) : NULL; p && *p && *p != '\n'; p = end) {
		v = strtoll(p, &end, 10);
		if (end == p)
			break;
		end += strspn(end, " \t");
	}
	return v;
}

static int64_t status_of(const struct who *w, const char *name)
{
	struct buf b;
	int64_t v = -1;

	if (!enter_read_proc(w->pid, "status", STATUS_MAX_BYTES, &b))
		v = last_of(buf_str(&b), name);
	buf_done(&b);
	return v;
}

int32_t enter_inner_pid(const struct who *w)
{
	int64_t pid = status_of(w, "\nNSpid:");

	return pid > 0 && pid <= INT32_MAX ? (int32_t)pid : w->pid;
}

bool enter_is_inherited(const struct who *w, const struct gate *g)
{
	return g->pid != enter_inner_pid(w);
}

bool enter_is_of_other(const struct gate *g, const struct enter_conf *c)
{
	return !str_eq(g->conn, c->conn) || !str_eq(g->runtime, c->runtime) ||
	       !str_eq(g->host, c->host);
}

bool enter_has_ended(const struct who *w)
{
	char path[40], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)w->pid);
	return who_has_ended(w) || (readlink(path, target, sizeof(target)) < 0 && errno == ENOENT);
}

bool enter_is_stopped(const struct who *w)
{
	struct buf b;
	bool is = !enter_read_proc(w->pid, "status", STATUS_MAX_BYTES, &b) &&
		  strstr(buf_str(&b), "\nState:\tT");

	buf_done(&b);
	return is;
}

static int check_architecture(const struct who *w, struct err *e)
{
	unsigned char h[EI_NIDENT + 4] = { 0 };
	char path[40];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)w->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, h, sizeof(h));
		close(fd);
	}
	/* A file that may be executed and not read is examined by its memory alone. */
	if (n == (ssize_t)sizeof(h) && (memcmp(h, ELFMAG, SELFMAG) != 0 ||
					h[EI_CLASS] != ELFCLASS64 || h[EI_NIDENT + 2] != EM_X86_64))
		return err_set(e, ERR_UNSUPPORTED,
			       "the program is a 32-bit one or of another architecture than "
			       "libomig: build it for x86-64");
	return 0;
}

/* The process may see other files under the same names. */
static int check_library(const struct who *w, const char *library, struct err *e)
{
	char path[FILE_PATH_BYTES];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)w->pid, library);
	if (stat(library, &here) < 0)
		return err_set(e, ERR_NOTFOUND, "there is no %s", library);
	if (stat(path, &there) < 0 || here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		return err_set(e, ERR_UNSUPPORTED,
			       "the process does not see %s: it is in a "
			       "container or another mount namespace",
			       library);
	return 0;
}

int enter_check_program(const struct who *w, const char *library, struct err *e)
{
	int rc = enter_has_ended(w) ? err_set(e, ERR_NOTFOUND, "the process has ended")
				    : check_architecture(w, e);

	if (!rc && status_of(w, "\nSeccomp:") > 0)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "the process runs under seccomp, which may end it at a system call: "
			     "omig run starts it with libomig inside");
	return rc ? rc : check_library(w, library, e);
}
