/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of a process: /proc/PID/mountinfo, see proc_pid_mountinfo(5). */
#include "lm/host/host_linux_internal.h"

#include "common/base/file.h"
#include "common/ring/segmount.h"

#include <stdio.h>
#include <string.h>

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
int linux_each_mount(struct host *host, int32_t pid, host_on_mount_fn fn, void *arg)
{
	struct host_linux *h = (struct host_linux *)host;
	const char *text = linux_text(h, "proc/%d/mountinfo", (int)pid), *line;
	char path[FILE_PATH_BYTES];
	uint64_t key;

	if (!*text)
		text = linux_text(h, "proc/self/mountinfo");
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
