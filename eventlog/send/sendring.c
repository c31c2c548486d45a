/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/send/sendring.h"

#include "common/base/err.h"
#include "common/base/limits.h"
#include "eventlog/evblock.h"

#include <string.h>
#include <sys/mman.h>

#define ROOM EVSEND_ROOM_BYTES

int sendring_init(struct sendring *r)
{
	uint8_t *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ERR_NOMEM;
	r->p = p;
	sendring_clear(r);
	return 0;
}

void sendring_done(struct sendring *r)
{
	if (r->p)
		munmap(r->p, ROOM);
	r->p = NULL;
}

void sendring_clear(struct sendring *r)
{
	atomic_store(&r->head, 0);
	atomic_store(&r->tail, 0);
}

int sendring_bytes(const struct sendring *r, uint64_t from, uint64_t end, struct iovec out[2])
{
	size_t n = (size_t)(end - from), at = (size_t)(from % ROOM);
	size_t first = n < ROOM - at ? n : ROOM - at;

	out[0] = (struct iovec){ r->p + at, first };
	out[1] = (struct iovec){ r->p, n - first };
	return n > first ? 2 : 1;
}

static void copy_in(struct sendring *r, uint64_t at, const void *p, size_t n)
{
	struct iovec to[2];

	sendring_bytes(r, at, at + n, to);
	memcpy(to[0].iov_base, p, to[0].iov_len);
	memcpy(to[1].iov_base, (const uint8_t *)p + to[0].iov_len, to[1].iov_len);
}

bool sendring_put(struct sendring *r, const struct iovec *v, int n)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&r->tail, memory_order_acquire);
	size_t need = 0;

	for (int i = 0; i < n; i++)
		need += v[i].iov_len;
	if (need > ROOM - used)
		return false;
	for (int i = 0; i < n; i++) {
		copy_in(r, head, v[i].iov_base, v[i].iov_len);
		head += v[i].iov_len;
	}
	atomic_store_explicit(&r->head, head, memory_order_release);
	return true;
}

uint32_t sendring_block(const struct sendring *r, uint64_t at, uint32_t *events)
{
	uint8_t head[EVBLOCK_HEAD_BYTES];
	struct iovec from[2];
	struct evblock b;

	sendring_bytes(r, at, at + sizeof(head), from);
	memcpy(head, from[0].iov_base, from[0].iov_len);
	memcpy(head + from[0].iov_len, from[1].iov_base, from[1].iov_len);
	evblock_head(head, &b);
	*events = b.events;
	return b.bytes;
}
