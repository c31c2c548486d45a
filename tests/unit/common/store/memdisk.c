/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/store/memdisk.h"

#include "common/base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (64u << 20)

/* Check's own assertions take memory, which a test may have taken away. */
static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Before each operation: 0, or its error; MEMDISK_SHORT is for operations that can do half. */
static int fault(struct memdisk *s, bool *is_short)
{
	uint64_t op = ++s->ops;

	if (s->is_dead)
		return -EIO;
	if (!s->fault_at || op < s->fault_at || op >= s->fault_at + s->times)
		return 0;
	if (s->fault == MEMDISK_CRASH)
		s->is_dead = true;
	*is_short = s->fault == MEMDISK_SHORT;
	return *is_short ? 0 : s->fault == MEMDISK_FAIL ? -s->error : -EIO;
}

/* Reading requires neither space nor write permission. */
static int read_fault(struct memdisk *s, bool *is_short)
{
	int rc = fault(s, is_short);

	return rc == -EIO ? rc : 0;
}

static struct memdisk_name *find(struct memdisk_name *v, const char *name)
{
	for (int i = 0; i < MEMDISK_FILES; i++)
		if (*v[i].name && str_eq(v[i].name, name))
			return &v[i];
	return NULL;
}

static void put_name(struct memdisk_name *v, const char *name, int file)
{
	struct memdisk_name *n = find(v, name);

	for (int i = 0; !n && i < MEMDISK_FILES; i++)
		if (!*v[i].name)
			n = &v[i];
	must(n != NULL);
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->file = file;
}

static bool is_used(const struct memdisk *s, int file)
{
	bool is = false;

	for (int i = 0; i < MEMDISK_FILES && !is; i++)
		is = (*s->now[i].name && s->now[i].file == file) ||
		     (*s->sure[i].name && s->sure[i].file == file);
	for (int i = 0; i < MEMDISK_FDS && !is; i++)
		is = s->fd[i] == file;
	return is;
}

static int new_file(struct memdisk *s)
{
	for (int i = 0; i < MEMDISK_FILES; i++) {
		if (is_used(s, i))
			continue;
		buf_done(&s->file[i].now);
		buf_done(&s->file[i].sure);
		s->file[i].is_forgetful = false;
		return i;
	}
	must(false); /* too many files */
	return -1;
}

static int new_fd(struct memdisk *s, int file)
{
	for (int i = 0; i < MEMDISK_FDS; i++)
		if (s->fd[i] < 0) {
			s->fd[i] = file;
			return i;
		}
	must(false); /* descriptors leak */
	return -1;
}

static int mem_create(void *arg, const char *name)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short), file;

	if (rc || find(s->now, name))
		return rc ? rc : -EEXIST;
	file = new_file(s);
	put_name(s->now, name, file);
	return new_fd(s, file);
}

static int mem_open(void *arg, const char *name)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = read_fault(s, &is_short);
	const struct memdisk_name *n = find(s->now, name);

	return rc ? rc : n ? new_fd(s, n->file) : -ENOENT;
}

static ssize_t mem_read(void *arg, int fd, void *p, size_t n, uint64_t at)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = read_fault(s, &is_short);
	const struct buf *b = &s->file[s->fd[fd]].now;

	if (rc || at >= b->n)
		return rc;
	n = b->n - at < n ? b->n - at : n;
	if (is_short)
		n = (n + 1) / 2;
	memcpy(p, b->p + at, n);
	return (ssize_t)n;
}

static uint64_t used(const struct memdisk *s)
{
	uint64_t n = 0;

	for (int i = 0; i < MEMDISK_FILES; i++)
		if (*s->now[i].name)
			n += s->file[s->now[i].file].now.n;
	return n;
}

static int write_some(struct memdisk *s, struct buf *b, const void *p, size_t n, uint64_t at)
{
	size_t end = at + n > b->n ? at + n : b->n;

	if (buf_reserve(b, end - b->n + 1))
		return -ENOMEM;
	if (at > b->n)
		memset(b->p + b->n, 0, at - b->n);
	memcpy(b->p + at, p, n);
	b->n = end;
	return 0;
}

static ssize_t mem_write(void *arg, int fd, const void *p, size_t n, uint64_t at)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);
	struct buf *b = &s->file[s->fd[fd]].now;
	uint64_t has = s->room == UINT64_MAX ? UINT64_MAX : used(s);

	if (rc && !(s->is_dead && s->fault == MEMDISK_CRASH && s->ops == s->fault_at))
		return rc;
	if (rc || is_short)
		n = rng_below(&s->rng, n) + !rc; /* a crash too may be in the middle */
	if (s->room != UINT64_MAX && has + n > s->room)
		n = has < s->room ? (size_t)(s->room - has) : 0;
	if (n && write_some(s, b, p, n, at))
		return -ENOMEM;
	return rc ? rc : n ? (ssize_t)n : -ENOSPC;
}

static int64_t mem_size(void *arg, int fd)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = read_fault(s, &is_short);

	return rc ? rc : (int64_t)s->file[s->fd[fd]].now.n;
}

static int mem_cut(void *arg, int fd, uint64_t n)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);
	struct buf *b = &s->file[s->fd[fd]].now;

	if (!rc && n < b->n)
		b->n = n;
	return rc;
}

static int copy(struct buf *to, const struct buf *from)
{
	buf_clear(to);
	return buf_put(to, from->p, from->n) ? -ENOMEM : 0;
}

/* After a failure the pages count as clean: the next sync succeeds, and the disk has nothing. */
static int mem_sync(void *arg, int fd)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);
	struct memdisk_file *f = &s->file[s->fd[fd]];

	if (rc)
		f->is_forgetful = true;
	else if (!f->is_forgetful)
		rc = copy(&f->sure, &f->now);
	return rc;
}

static void mem_close(void *arg, int fd)
{
	struct memdisk *s = arg;

	must(s->fd[fd] >= 0);
	s->fd[fd] = -1;
}

static int mem_rename(void *arg, const char *from, const char *to)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);
	struct memdisk_name *n = find(s->now, from);

	if (rc || !n)
		return rc ? rc : -ENOENT;
	put_name(s->now, to, n->file);
	*n->name = 0;
	return 0;
}

static int mem_remove(void *arg, const char *name)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);
	struct memdisk_name *n = find(s->now, name);

	if (rc || !n)
		return rc ? rc : -ENOENT;
	*n->name = 0;
	return 0;
}

static int mem_sync_names(void *arg, const char *name)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = fault(s, &is_short);

	if (!rc)
		memcpy(s->sure, s->now, sizeof(s->sure));
	return rc;
}

static int mem_list(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		    void *each_arg)
{
	struct memdisk *s = arg;
	bool is_short = false;
	int rc = read_fault(s, &is_short);
	size_t n = strlen(folder);
	bool is_here = str_eq(folder, ".");

	for (int i = 0; i < MEMDISK_FILES && !rc; i++)
		if (*s->now[i].name && (is_here || !strncmp(s->now[i].name, folder, n)))
			each(each_arg, is_here ? s->now[i].name : s->now[i].name + n + 1);
	return rc;
}

/* There is one directory, and names are not resolved. */
static int mem_make_folder(void *arg, const char *path, struct err *e)
{
	return 0;
}

static int mem_enter(void *arg, const char *path, struct disk *out, struct err *e)
{
	const struct memdisk *s = arg;

	*out = s->disk;
	return 0;
}

void memdisk_init(struct memdisk *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->disk = (struct disk){ .arg = s,
				 .create = mem_create,
				 .open = mem_open,
				 .read_at = mem_read,
				 .write_at = mem_write,
				 .size = mem_size,
				 .cut = mem_cut,
				 .sync = mem_sync,
				 .close = mem_close,
				 .rename = mem_rename,
				 .remove = mem_remove,
				 .sync_names = mem_sync_names,
				 .list = mem_list,
				 .make_folder = mem_make_folder,
				 .enter = mem_enter };
	rng_init(&s->rng, seed);
	s->room = UINT64_MAX;
	for (int i = 0; i < MEMDISK_FILES; i++) {
		buf_init(&s->file[i].now, FILE_MAX_BYTES);
		buf_init(&s->file[i].sure, FILE_MAX_BYTES);
	}
	memset(s->fd, 0xff, sizeof(s->fd));
}

void memdisk_done(struct memdisk *s)
{
	for (int i = 0; i < MEMDISK_FILES; i++) {
		buf_done(&s->file[i].now);
		buf_done(&s->file[i].sure);
	}
}

/* Any part of the unsynced bytes may have come to the disk, and some of it as zeros. */
static void lose_power(struct memdisk *s, struct memdisk_file *f)
{
	size_t same = f->sure.n < f->now.n ? f->sure.n : f->now.n;
	size_t more = f->now.n > same ? rng_below(&s->rng, f->now.n - same + 1) : 0;

	if (f->sure.n <= f->now.n && more) {
		copy(&f->sure, &f->now);
		f->sure.n = same + more;
		if (rng_below(&s->rng, 2))
			memset(f->sure.p + same + more / 2, 0, more - more / 2);
	}
	copy(&f->now, &f->sure);
}

void memdisk_crash(struct memdisk *s, bool is_power)
{
	memset(s->fd, 0xff, sizeof(s->fd));
	s->is_dead = false;
	s->fault_at = 0;
	if (!is_power)
		return;
	if (rng_below(&s->rng, 2)) /* names may have come to the disk by themselves */
		memcpy(s->now, s->sure, sizeof(s->now));
	for (int i = 0; i < MEMDISK_FILES; i++)
		if (*s->now[i].name && !s->file[s->now[i].file].is_forgetful)
			lose_power(s, &s->file[s->now[i].file]);
		else if (*s->now[i].name)
			copy(&s->file[s->now[i].file].now, &s->file[s->now[i].file].sure);
	for (int i = 0; i < MEMDISK_FILES; i++)
		s->file[i].is_forgetful = false;
	memcpy(s->sure, s->now, sizeof(s->sure));
}

struct buf *memdisk_find(struct memdisk *s, const char *name)
{
	const struct memdisk_name *n = find(s->now, name);

	return n ? &s->file[n->file].now : NULL;
}
