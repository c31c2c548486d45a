/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of small state on a disk. Accepted contents have valid checksums, and are read again
 * unchanged after a write.
 */
#include "common/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define MAX_BYTES (1u << 20)

/* One file: the input or, after the first write, the written bytes. */
static struct buf file;

static int mem_open(void *arg, const char *name)
{
	return 0;
}

static int mem_create(void *arg, const char *name)
{
	buf_clear(&file);
	return 0;
}

static ssize_t mem_read(void *arg, int fd, void *p, size_t n, uint64_t at)
{
	size_t has = at < file.n ? file.n - (size_t)at : 0;

	n = n < has ? n : has;
	if (n)
		memcpy(p, file.p + at, n);
	return (ssize_t)n;
}

/* All writes append. */
static ssize_t mem_write(void *arg, int fd, const void *p, size_t n, uint64_t at)
{
	return at == file.n && !buf_put(&file, p, n) ? (ssize_t)n : -EIO;
}

static int64_t mem_size(void *arg, int fd)
{
	return (int64_t)file.n;
}

static int mem_fd(void *arg, int fd)
{
	return 0;
}

static void mem_close(void *arg, int fd)
{
}

static int mem_name(void *arg, const char *name)
{
	return 0;
}

static int mem_rename(void *arg, const char *from, const char *to)
{
	return 0;
}

static const struct disk disk = { .create = mem_create,
				  .open = mem_open,
				  .read_at = mem_read,
				  .write_at = mem_write,
				  .size = mem_size,
				  .sync = mem_fd,
				  .close = mem_close,
				  .rename = mem_rename,
				  .remove = mem_name,
				  .sync_names = mem_name };

static const struct store_kind kind = { .what = "fuzz", .version = 1, .max_bytes = MAX_BYTES };

static int count(void *arg, char *line, struct err *e)
{
	*(size_t *)arg += strlen(line) + 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct store s = STORE_INIT(&kind, &disk, "it");
	struct buf b = { 0 }, again = { 0 };
	size_t bytes = 0;

	buf_init(&file, 2 * MAX_BYTES);
	buf_put(&file, p, n);
	if (!store_read(&s, &b, NULL)) {
		if (b.n + s.damaged > n)
			abort();
		if (s.is_whole && s.bytes + 64 < MAX_BYTES && store_add(&s, "more\n", 5, NULL))
			abort();
		if (store_read_lines(&s, count, &bytes, NULL) || bytes > b.n + 6)
			abort();
		if (store_write(&s, &b, NULL) || store_read(&s, &again, NULL) || again.n != b.n ||
		    (b.n && memcmp(again.p, b.p, b.n)))
			abort();
	}
	buf_done(&b);
	buf_done(&again);
	buf_done(&file);
	return 0;
}
