/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, numbers and numbered folders of /proc and /sys. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_KEEP_BYTES (16 * 1024) /* a longer buffer is freed when the next file is read */

const char *linux_text(struct host_linux *h, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (h->text.cap > TEXT_KEEP_BYTES)
		buf_done(&h->text);
	buf_clear(&h->text);
	if (n < 0 || (size_t)n >= sizeof(path))
		return "";
	if (file_read_at(h->root, path, HOST_FILE_MAX_BYTES, &h->text, NULL))
		return "";
	return buf_str(&h->text);
}

int64_t linux_number(struct host_linux *h, int64_t unknown, const char *path)
{
	int64_t v;

	return text_number(linux_text(h, "%s", path), &v) ? v : unknown;
}

size_t linux_numbered(struct host_linux *h, const char *path, int32_t *out, size_t max)
{
	struct dirent *d;
	size_t n = 0;
	int64_t v;
	DIR *dir;
	int fd;

	fd = openat(h->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (n < max && (d = readdir(dir)))
		if (d->d_name[0] >= '0' && d->d_name[0] <= '9' && text_number(d->d_name, &v) &&
		    v <= INT32_MAX)
			out[n++] = (int32_t)v;
	closedir(dir);
	qsort(out, n, sizeof(*out), array_order_int32);
	return n;
}
