/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/ring/segview_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Only the words of the layout: between magic and the two parts that change. */
#define PLAN_BYTES (offsetof(struct seg_header, w) - offsetof(struct seg_header, version))

/* Reads each word once, so that the value that is checked is the value that is used. */
static void copy_words(void *to, const void *from, size_t n)
{
	const uint64_t *src = from;
	uint64_t v;

	for (size_t i = 0; i < n / 8; i++) {
		v = __atomic_load_n(&src[i], __ATOMIC_ACQUIRE);
		memcpy((uint8_t *)to + i * 8, &v, 8);
	}
}

static int check_header(struct segview *v, struct err *e)
{
	struct seg_header h, plan = { .magic = SEG_MAGIC };

	copy_words(&h, v->base, sizeof(h));
	if (!h.magic)
		return err_set(e, ERR_AGAIN, "the segment is not set up yet");
	if (h.magic != SEG_MAGIC)
		return err_set(e, ERR_PROTO, "not a segment of omig");
	if (h.version != SEG_VERSION)
		return err_set(e, ERR_UNSUPPORTED, "segment layout %u, this program knows %u",
			       h.version, SEG_VERSION);
	seg_plan(&plan, h.func_count, h.thread_count, h.ring_bytes);
	if (memcmp(&plan.version, &h.version, PLAN_BYTES) != 0)
		return err_set(e, ERR_PROTO, "the segment's header contradicts itself");
	if (plan.segment_bytes != v->bytes)
		return err_set(e, ERR_PROTO,
			       "the segment's header has a size of %llu bytes, the file has %zu",
			       (unsigned long long)plan.segment_bytes, v->bytes);
	v->plan = plan;
	v->funcs = h.func_count < call_count ? h.func_count : call_count;
	return 0;
}

/*
 * False for a file of huge pages: a hole in it is filled from a pool, and if that is empty, a read
 * kills the process.
 */
static bool has_plain_pages(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static int check_file(int fd, uid_t owner, size_t *bytes, struct err *e)
{
	struct stat st;
	int seals;

	/* Checked first, because fstat() of another file may wait for its server. */
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & SEALS) != SEALS)
		return err_set(e, ERR_DENIED, "the segment is not sealed");
	if (fstat(fd, &st) < 0)
		return err_sys(e, "segment");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_DENIED, "the segment is not a regular file");
	if (st.st_uid != owner)
		return err_set(e, ERR_DENIED, "the segment belongs to uid %u", st.st_uid);
	if (!has_plain_pages(fd))
		return err_set(e, ERR_DENIED, "the segment is not made of plain pages");
	if (st.st_size < (off_t)sizeof(struct seg_header) || st.st_size > (off_t)SEG_BYTES_MAX)
		return err_set(e, ERR_PROTO, "a segment of %lld bytes", (long long)st.st_size);
	*bytes = (size_t)st.st_size;
	return 0;
}

static int view_new(uint8_t *base, size_t bytes, bool mapped, struct segview **out, struct err *e)
{
	struct segview *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return err_nomem(e);
	v->base = base;
	v->bytes = bytes;
	rc = check_header(v, e);
	if (!rc && segview_probes_copy(v))
		rc = err_nomem(e);
	if (rc) {
		free(v);
		return rc;
	}
	v->mapped = mapped;
	*out = v;
	return 0;
}

int segview_open(int fd, uid_t owner, struct segview **out, struct err *e)
{
	size_t bytes = 0;
	void *base;
	int rc;

	rc = check_file(fd, owner, &bytes, e);
	if (rc)
		return rc;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return err_sys(e, "map segment");
	rc = view_new(base, bytes, true, out, e);
	if (rc)
		munmap(base, bytes);
	return rc;
}

int segview_over(void *p, size_t n, struct segview **out, struct err *e)
{
	if (n < sizeof(struct seg_header) || n > SEG_BYTES_MAX || (uintptr_t)p % 8)
		return err_set(e, ERR_PROTO, "a segment of %zu bytes", n);
	return view_new(p, n, false, out, e);
}

void segview_free(struct segview *v)
{
	if (!v)
		return;
	if (v->mapped)
		munmap(v->base, v->bytes);
	segview_actions_free(v);
	free(v->probe);
	free(v->wanted);
	free(v->read_func);
	segview_meters_free(v);
	free(v);
}

unsigned segview_threads(const struct segview *v)
{
	return v->plan.thread_count;
}

unsigned segview_funcs(const struct segview *v)
{
	return v->funcs;
}

/* Ends the text with a 0. Unprintable text is dropped completely. */
static void clean_text(char *s, size_t size)
{
	s[size - 1] = 0;
	if (!str_is_name(s, strlen(s)))
		memset(s, 0, size);
}

void segview_own(const struct segview *v, struct seg_own *out)
{
	copy_words(out, &segview_header(v)->w, sizeof(*out));
	clean_text(out->job, sizeof(out->job));
	clean_text(out->site, sizeof(out->site));
	clean_text(out->program, sizeof(out->program));
	clean_text(out->library, sizeof(out->library));
}

int segview_thread(const struct segview *v, unsigned thread, struct segview_thread *out)
{
	struct seg_thread copy;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	copy_words(&copy, segview_thread_head(v, thread), sizeof(copy));
	out->tid = copy.tid;
	out->generation = copy.generation;
	out->ring_dropped = copy.ring_dropped;
	out->ring_used = copy.ring_head - copy.ring_tail;
	if (out->ring_used > v->plan.ring_bytes)
		out->ring_used = v->plan.ring_bytes;
	out->partner_lost = copy.partner_lost;
	out->partner_unknown = copy.partner_unknown;
	out->site_lost = copy.site_lost;
	out->size_lost = copy.size_lost;
	return 0;
}

/* --- reads and writes by file system */

static void read_moved(const struct seg_moved *from, struct seg_moved *to)
{
	to->calls = __atomic_load_n(&from->calls, __ATOMIC_RELAXED);
	to->bytes = __atomic_load_n(&from->bytes, __ATOMIC_RELAXED);
}

bool segview_mount(const struct segview *v, unsigned number, struct seg_mount *out)
{
	const uint8_t *table = v->base + v->plan.mount_offset;
	const struct seg_mount *from = (const struct seg_mount *)(const void *)table + number;

	if (number >= SEG_MOUNTS)
		return false;
	out->key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE);
	read_moved(&from->in, &out->in);
	read_moved(&from->out, &out->out);
	read_moved(&from->silent_in, &out->silent_in);
	read_moved(&from->silent_out, &out->silent_out);
	return out->key != 0;
}
