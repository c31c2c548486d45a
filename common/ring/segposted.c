/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of open operations, for the lm. */
#include "common/ring/calls.h"
#include "common/ring/segview_internal.h"

#define READ_TRIES 4 /* an entry that changes so often is in use, or malicious */

static const struct seg_posted *entry_at(const struct segview *v, unsigned place)
{
	return (const struct seg_posted *)(const void *)(v->base + v->plan.posted_offset) + place;
}

void segview_posted_start(struct segview *v)
{
	uint32_t *at = &segview_header(v)->l.posted_epoch;
	uint32_t epoch = __atomic_load_n(at, __ATOMIC_RELAXED) + 1;

	v->posted_epoch = epoch && epoch != POSTED_CLAIMED ? epoch : 1;
	__atomic_store_n(at, v->posted_epoch, __ATOMIC_RELEASE);
}

bool segview_posted_is_on(const struct segview *v)
{
	return v->posted_epoch != 0;
}

static void copy(const struct seg_posted *p, struct segview_posted *out)
{
	int64_t bytes = __atomic_load_n(&p->bytes, __ATOMIC_ACQUIRE);

	out->func = __atomic_load_n(&p->func, __ATOMIC_ACQUIRE);
	out->is_receive = __atomic_load_n(&p->is_receive, __ATOMIC_ACQUIRE) != 0;
	out->tag = __atomic_load_n(&p->tag, __ATOMIC_ACQUIRE);
	out->partner = __atomic_load_n(&p->partner, __ATOMIC_ACQUIRE);
	out->ticks = __atomic_load_n(&p->ticks, __ATOMIC_ACQUIRE);
	out->bytes = bytes > 0 ? bytes : 0;
	out->comm = __atomic_load_n(&p->comm, __ATOMIC_ACQUIRE);
}

bool segview_posted(const struct segview *v, unsigned place, struct segview_posted *out)
{
	const struct seg_posted *p;

	if (place >= SEG_POSTED || !v->posted_epoch)
		return false;
	p = entry_at(v, place);
	for (unsigned i = 0; i < READ_TRIES; i++) {
		uint64_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
		struct segview_posted copied;

		if ((uint32_t)state != v->posted_epoch)
			return false;
		copy(p, &copied);
		if (__atomic_load_n(&p->state, __ATOMIC_RELAXED) != state)
			continue;
		if (copied.func >= v->funcs)
			return false;
		*out = copied;
		return true;
	}
	return false;
}

uint64_t segview_posted_lost(const struct segview *v)
{
	return __atomic_load_n(&segview_header(v)->w.posted_lost, __ATOMIC_RELAXED);
}
