/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that is charged to an account has a tag in its last bytes. The allocator knows its size.
 */
#include "sim/world/heap.h"

#include "common/base/hash.h"
#include "common/loop/loop.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

static const struct loop *watched;
static uint64_t sessions;

struct tag {
	struct heap_account *account;
	/* a mark of the block and the session, so that data of an old block are not tag */
	uint64_t magic;
};

void heap_watch(const struct loop *l)
{
	watched = l;
	sessions++;
}

bool heap_is_watched(void)
{
	return watched;
}

static uint64_t magic_of(const void *p)
{
	return hash_mix64((uint64_t)(uintptr_t)p ^ sessions << 56);
}

static uint8_t *tag_at(void *p)
{
	size_t usable = malloc_usable_size(p);

	return usable >= sizeof(struct tag) ? (uint8_t *)p + usable - sizeof(struct tag) : NULL;
}

size_t heap_room(size_t n)
{
	return watched && n < PTRDIFF_MAX - sizeof(struct tag) ? n + sizeof(struct tag) : n;
}

void *heap_charge(void *p)
{
	struct tag t = { watched ? loop_part_maker(loop_running(watched)) : NULL, magic_of(p) };
	uint8_t *at;

	/* an existing tag belongs to a block that was freed without a notice */
	heap_discharge(p);
	at = p && t.account ? tag_at(p) : NULL;
	if (!at)
		return p;
	t.account->bytes += malloc_usable_size(p);
	if (t.account->bytes > t.account->most)
		t.account->most = t.account->bytes;
	memcpy(at, &t, sizeof(t));
	return p;
}

bool heap_discharge(void *p)
{
	uint8_t *at = p && watched ? tag_at(p) : NULL;
	struct tag t = { 0 };

	if (at)
		memcpy(&t, at, sizeof(t));
	if (!at || t.magic != magic_of(p))
		return false;
	memset(at, 0, sizeof(t));
	t.account->bytes -= malloc_usable_size(p);
	return true;
}
