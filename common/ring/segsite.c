/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads call sites, the files to which their addresses belong, and calls by the class of their
 * size.
 */
#include "common/base/str.h"
#include "common/ring/segview_internal.h"

#include <string.h>

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Returns false if the entry is free or invalid. */
static bool read_site(const struct segview *v, const struct seg_site *from, struct segview_site *to)
{
	if (!__atomic_load_n(&from->key, __ATOMIC_ACQUIRE))
		return false;
	to->func = __atomic_load_n(&from->func, __ATOMIC_RELAXED);
	to->depth = __atomic_load_n(&from->depth, __ATOMIC_RELAXED);
	if (to->func >= v->funcs || !to->depth || to->depth > SEG_SITE_DEPTH)
		return false;
	for (unsigned i = 0; i < SEG_SITE_DEPTH; i++)
		to->pc[i] = i < to->depth ? load(&from->pc[i]) : 0;
	to->count = load(&from->count);
	to->bytes_out = load(&from->bytes_out);
	to->bytes_in = load(&from->bytes_in);
	to->delay = load(&from->delay);
	to->longest = load(&from->longest);
	return true;
}

int segview_sites(const struct segview *v, unsigned thread,
		  void (*fn)(void *arg, const struct segview_site *s), void *arg)
{
	const struct seg_site *table;
	struct segview_site s;
	int n = 0;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	table = (const void *)(segview_block(v, thread) + v->plan.site_offset);
	for (unsigned i = 0; i < SEG_SITES; i++) {
		if (!read_site(v, &table[i], &s))
			continue;
		fn(arg, &s);
		n++;
	}
	return n;
}

bool segview_module(const struct segview *v, unsigned number, struct seg_module *out)
{
	const uint8_t *at = v->base + v->plan.module_offset;

	if (number >= SEG_MODULES)
		return false;
	memcpy(out, at + number * sizeof(*out), sizeof(*out));
	out->path[SEG_MODULE_PATH_BYTES - 1] = 0;
	if (out->build_id_bytes > SEG_BUILD_ID_BYTES)
		out->build_id_bytes = 0;
	return out->end > out->start && out->path[0] == '/' &&
	       str_is_name(out->path, strlen(out->path));
}

void segview_site_depth_set(struct segview *v, unsigned depth)
{
	__atomic_store_n(&segview_header(v)->l.site_depth, depth, __ATOMIC_RELEASE);
}

/* --- calls by the class of their size */

/* Returns false if the entry is free or invalid. */
static bool read_size(const struct segview *v, const struct seg_size *from, struct segview_size *to)
{
	uint64_t key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE);

	to->func = (unsigned)(key >> 32) - 1;
	to->class = (unsigned)(uint32_t)key;
	if (!key || to->func >= v->funcs || to->class >= SEG_SIZE_CLASSES)
		return false;
	to->count = load(&from->count);
	to->bytes = load(&from->bytes);
	to->delay = load(&from->delay);
	return true;
}

int segview_sizes(const struct segview *v, unsigned thread,
		  void (*fn)(void *arg, const struct segview_size *s), void *arg)
{
	const struct seg_size *table;
	struct segview_size s;
	int n = 0;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	table = (const void *)(segview_block(v, thread) + v->plan.size_offset);
	for (unsigned i = 0; i < SEG_SIZES; i++) {
		if (!read_size(v, &table[i], &s))
			continue;
		fn(arg, &s);
		n++;
	}
	return n;
}
