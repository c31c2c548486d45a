/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of a process by file system, from the table that its calls write. The bound is
 * what the kernel has counted of the process and its table has not: calls of the C library itself,
 * as those behind fwrite(), and of children that have ended.
 */
#include "common/base/str.h"
#include "lm/measure/input_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A name without a mount; see SEG_MOUNT_PIPE. */
static const char *const kinds[] = {
	[SEG_MOUNT_PIPE] = "pipe",
	[SEG_MOUNT_SOCKET] = "socket",
	[SEG_MOUNT_OTHER] = "other",
};

/* The table of a process that counts has its last row from the begin. */
static bool counts(const struct proc *p)
{
	struct seg_mount m;

	return p && p->seg && segview_mount(p->seg, SEG_MOUNTS - 1, &m);
}

const char *mounts_fault(const struct input *in)
{
	return !in->metric.is_by_mount || !in->proc || counts(in->proc)
		       ? NULL
		       : "its reads and writes are not counted by file system: start it with omig "
			 "run --files";
}

static uint64_t kind_of(const char *name)
{
	for (uint64_t k = SEG_MOUNT_PIPE; k <= SEG_MOUNT_OTHER; k++)
		if (str_eq(kinds[k], name))
			return k;
	return 0;
}

struct search {
	const char *path;
	size_t length; /* of the best mount's path */
	uint64_t key;
};

/* Among equal places the first that is reported hides the others. */
static bool on_mount(void *arg, const char *path, uint64_t key)
{
	struct search *s = arg;
	size_t n = str_eq(path, "/") ? 0 : strlen(path);

	if (strncmp(path, s->path, n) != 0 || (s->path[n] && s->path[n] != '/') ||
	    (s->key && n <= s->length))
		return false;
	s->length = n;
	s->key = key;
	return false;
}

/* Returns the key of the mount on which a path is; 0: it is not known. */
static uint64_t key_of(const struct input *in, const struct input_moment *m, const char *name)
{
	struct search s = { .path = name, .key = kind_of(name) };

	if (!s.key && in->proc->held)
		host_proc_each_mount(in->proc->held, on_mount, &s);
	else if (!s.key)
		host_each_mount(m->host, in->proc->pid, on_mount, &s);
	return s.key;
}

/* A kernel that does not report numbers of mounts has the device only. */
static bool is_same(uint64_t row, uint64_t key)
{
	const uint64_t id = SEG_MOUNT_KEY(0x7fffffff, 0, 0) ^ SEG_MOUNT_KEY(0, 0, 0);

	return row == key || (!(row & id) && row == (key & ~id));
}

/* Without names: all mounts, and no pipes or sockets. */
static bool is_wanted(uint64_t row, const uint64_t *key, size_t n)
{
	if (!n)
		return row > SEG_MOUNT_OTHER;
	for (size_t i = 0; i < n; i++)
		if (is_same(row, key[i]))
			return true;
	return false;
}

/* Returns the sum that the metric is about. */
static uint64_t part_of(const struct mount_figure *f, const struct seg_moved *in,
			const struct seg_moved *out)
{
	const struct seg_moved *of = f->is_write ? out : in;

	return f->is_volume ? of->bytes : of->calls;
}

/* Returns what the kernel has counted; negative if that is not known. */
static double counted(const struct input *in, const struct input_moment *m,
		      const struct mount_figure *f)
{
	struct host_figures now;

	if (!in->proc->held || host_figures(m->host, in->proc->pid, HOST_FIGURES_IO, &now, NULL))
		return -1;
	if (f->is_write)
		return (double)(f->is_volume ? now.write_bytes : now.write_calls);
	return (double)(f->is_volume ? now.read_bytes : now.read_calls);
}

static double beyond(double all, double seen)
{
	return all > seen ? all - seen : 0;
}

/* Adds the wanted rows to *v. Returns the sum of all rows, as far as the kernel counts them too. */
static double add_rows(const struct input *in, const uint64_t *key, const struct mount_figure *f,
		       struct measurement_value *v)
{
	struct seg_mount row;
	double seen = 0;

	for (unsigned i = 0; i < SEG_MOUNTS; i++) {
		if (!segview_mount(in->proc->seg, i, &row))
			continue;
		if (is_wanted(row.key, key, in->source->regions.n))
			v->value += (double)part_of(f, &row.in, &row.out);
		seen += (double)part_of(f, &row.in, &row.out) -
			(double)part_of(f, &row.silent_in, &row.silent_out);
	}
	return seen;
}

/*
 * The kernel is asked before the table is read, and behind it. So what was unseen until now is at
 * least parts.fixed and at most the error.
 */
bool mounts_sample(struct input *in, const struct input_moment *m, const struct mount_figure *f,
		   struct measurement_value *v)
{
	const struct flow_names *names = &in->source->regions;
	double before, seen, behind;
	uint64_t key[SEG_MOUNTS];

	if (!counts(in->proc))
		return false;
	for (size_t i = 0; i < names->n; i++) {
		key[i] = key_of(in, m, names->v[i]);
		if (!key[i])
			return false;
	}
	before = counted(in, m, f);
	seen = add_rows(in, key, f, v);
	behind = counted(in, m, f);
	v->parts.fixed = beyond(before, seen);
	v->error = behind < 0 ? INFINITY : beyond(behind, seen);
	return true;
}

int mounts_open(const struct input *in, struct err *e)
{
	const struct flow_names *names = &in->source->regions;

	if (names->n > SEG_MOUNTS)
		return err_set(e, ERR_LIMIT, "%zu file systems, %d are the limit", names->n,
			       SEG_MOUNTS);
	for (size_t i = 0; i < names->n; i++)
		if (!pmsl_builtin_is_mount(names->v[i]))
			return err_set(e, ERR_INVALID, "%s: " PMSL_BUILTIN_MOUNTS, names->v[i]);
	return 0;
}
