/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of a process: /proc/PID/mountinfo, see proc_pid_mountinfo(5). */
#include "lm/host/host_linux.h"
#include "lm/host/host_linux_internal.h"

#include "common/base/file.h"
#include "common/ring/segmount.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELDS 5 /* id, parent, MAJOR:MINOR, root, mount point */

static bool is_octal(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '7')
			return false;
	return true;
}

/* Blanks and others are \040: three octal digits. */
static bool read_path(const char *s, size_t n, char out[FILE_PATH_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < n && used < FILE_PATH_BYTES - 1; i++) {
		if (s[i] == '\\' && n - i > 3 && is_octal(s + i + 1, 3)) {
			out[used++] = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 |
					     (s[i + 3] - '0'));
			i += 3;
		} else {
			out[used++] = s[i];
		}
	}
	out[used] = '\0';
	return n && *s == '/' && n < FILE_PATH_BYTES;
}

static bool read_line(const char *line, size_t n, uint64_t *key, char path[FILE_PATH_BYTES])
{
	unsigned id, major, minor;
	const char *at = line, *end;

	if (sscanf(line, "%u %*u %u:%u", &id, &major, &minor) != 3)
		return false;
	for (unsigned i = 1; i < FIELDS && at; i++) {
		at = memchr(at, ' ', n - (size_t)(at - line));
		at = at ? at + 1 : NULL;
	}
	end = at ? memchr(at, ' ', n - (size_t)(at - line)) : NULL;
	*key = SEG_MOUNT_KEY(id, major, minor);
	return end && read_path(at, (size_t)(end - at), path);
}

/* Later mounts hide earlier ones of the same place: from the last line to the first. */
static int each_line(const char *text, host_on_mount_fn fn, void *arg)
{
	char path[FILE_PATH_BYTES];
	const char *line;
	uint64_t key;

	if (!*text)
		return -ERR_SYS;
	for (const char *end = text + strlen(text); end > text; end = line - 1) {
		line = end;
		while (line > text && line[-1] != '\n')
			line--;
		if (end > line && read_line(line, (size_t)(end - line), &key, path) &&
		    fn(arg, path, key))
			return 0;
		if (line == text)
			break;
	}
	return 0;
}

int linux_each_mount(struct host *host, int32_t pid, host_on_mount_fn fn, void *arg)
{
	struct host_linux *h = (struct host_linux *)host;
	const char *text = linux_text(h, "proc/%d/mountinfo", (int)pid);

	h->mount_reads++;
	return each_line(*text ? text : linux_text(h, "proc/self/mountinfo"), fn, arg);
}

/* --- tables that are read again only when a mount has changed */

void mount_table_init(struct mount_table *t)
{
	t->fd = -1;
	buf_init(&t->text, HOST_FILE_MAX_BYTES);
}

void mount_table_done(struct mount_table *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	buf_done(&t->text);
}

/* Notes namespace and root of a process, which decide what its table is. */
static bool find_place(const struct host_linux *h, const char *of, struct mount_table *out)
{
	struct stat s;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "proc/%s/ns/mnt", of);
	if (!h->is_live || fstatat(h->root, path, &s, 0))
		return false;
	out->space = s.st_ino;
	snprintf(path, sizeof(path), "proc/%s/root", of);
	n = readlinkat(h->root, path, out->root, sizeof(out->root) - 1);
	out->root[n > 0 ? n : 0] = '\0';
	return n > 0 && (size_t)n < sizeof(out->root) - 1;
}

static bool is_same_place(const struct mount_table *a, const struct mount_table *b)
{
	return a->space == b->space && !strcmp(a->root, b->root);
}

/* The kernel reports a change of any mount of the namespace once to each open file. */
static bool has_changed(const struct mount_table *t)
{
	struct pollfd p = { .fd = t->fd, .events = POLLPRI };

	return poll(&p, 1, 0) != 0;
}

/* Opens before it reads: a change in between is reported later. */
static bool read_table(struct host_linux *h, const char *of, const struct mount_table *place,
		       struct mount_table *t)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%s/mountinfo", of);
	mount_table_done(t);
	t->fd = openat(h->root, path, O_RDONLY | O_CLOEXEC);
	h->mount_reads++;
	if (t->fd < 0 || file_read_at(h->root, path, HOST_FILE_MAX_BYTES, &t->text, NULL)) {
		mount_table_done(t);
		return false;
	}
	t->space = place->space;
	memcpy(t->root, place->root, sizeof(t->root));
	return true;
}

/* Most processes see what the lm sees, and share its table. */
int linux_proc_each_mount(struct host_proc *p, host_on_mount_fn fn, void *arg)
{
	struct host_linux *h = (struct host_linux *)p->host;
	struct mount_table own, place, *t = &h->mounts;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)p->pid);
	if (!find_place(h, pid, &place) || !find_place(h, "self", &own))
		return linux_each_mount(p->host, p->pid, fn, arg);
	if (!is_same_place(&place, &own))
		t = &((struct linux_proc *)p)->mounts;
	if ((t->fd < 0 || !is_same_place(&place, t) || has_changed(t)) &&
	    !read_table(h, pid, &place, t))
		return linux_each_mount(p->host, p->pid, fn, arg);
	return each_line(buf_str(&t->text), fn, arg);
}

uint64_t host_linux_mount_reads(const struct host *host)
{
	return ((const struct host_linux *)host)->mount_reads;
}
