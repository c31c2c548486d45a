/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. */
#include "libapp/hot/requests.h"

#include "libapp/hot/listing.h"

#define TABLE 4096 /* open requests that it holds; a power of two */
#define PROBES 16 /* steps of one search */

/*
 * An entry is claimed by exchanging the key from 0 to BUSY, and then filled. Storing the handle
 * publishes it (release, paired with the acquire in find_entry). A handle belongs to one thread at
 * a time, so its entry has one user at a time.
 */
#define BUSY ((uintptr_t)-1)

static struct {
	uintptr_t key[TABLE]; /* separate from the rest, so that a search touches few cache lines */
	struct request request[TABLE];
} table;
static uint32_t live; /* entries in use */

static unsigned place(uintptr_t key, unsigned i)
{
	uint64_t h = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)((h >> 52) + i) % TABLE;
}

static uintptr_t *key_of(const struct request *r)
{
	return &table.key[r - table.request];
}

bool requests_are_none(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED) == 0;
}

static struct request *find_entry(uintptr_t key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		unsigned at = place(key, i);

		if (__atomic_load_n(&table.key[at], __ATOMIC_ACQUIRE) == key)
			return &table.request[at];
	}
	return NULL;
}

static struct request *get(uintptr_t handle)
{
	return handle && !requests_are_none() ? find_entry(handle) : NULL;
}

static struct request *claim_entry(uintptr_t key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		unsigned at = place(key, i);
		uintptr_t none = 0;

		if (__atomic_load_n(&table.key[at], __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&table.key[at], &none, BUSY, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
			return &table.request[at];
		}
	}
	return NULL;
}

static void release(struct request *r)
{
	__atomic_store_n(key_of(r), 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
}

/* All but the key, which searching threads read, and try to exchange, at any time. */
static void copy_rest(struct request *to, const struct request *from)
{
	to->kind = from->kind;
	to->func = from->func;
	to->comm = from->comm;
	to->generation = from->generation;
	to->bytes = from->bytes;
	to->active = from->active;
	to->bytes_in = from->bytes_in;
	to->span = from->span;
	to->partner = from->partner;
	to->room = from->room;
	to->tag = from->tag;
	to->open = from->open;
	to->comm_id = from->comm_id;
	to->ticket = from->ticket;
	to->source = from->source;
	to->has_ticket = from->has_ticket;
}

static bool stays(const struct request *r)
{
	return r->kind == REQUEST_PSEND_INIT;
}

bool request_put(const struct request *from)
{
	struct request *r = stays(from) ? find_entry(from->key) : NULL;

	if (!from->key || from->key == BUSY)
		return false;
	if (r && stays(r)) {
		r->open = from->open;
		return true;
	}
	request_drop(from->key);
	r = claim_entry(from->key);
	if (!r)
		return false;
	copy_rest(r, from);
	__atomic_store_n(key_of(r), from->key, __ATOMIC_RELEASE);
	return true;
}

void request_drop(uintptr_t handle)
{
	struct request *r = get(handle);

	if (!r)
		return;
	listing_take(r);
	release(r);
}

bool request_peek(uintptr_t handle, struct request *out)
{
	const struct request *r = get(handle);

	if (!r || !stays(r))
		return false;
	*out = (struct request){ .key = handle,
				 .kind = r->kind,
				 .func = r->func,
				 .bytes = r->bytes,
				 .partner = r->partner };
	return true;
}

bool request_take(uintptr_t handle, struct request *out)
{
	struct request *r = get(handle);

	if (!r)
		return false;
	out->key = handle;
	copy_rest(out, r);
	if (!stays(r))
		release(r);
	return true;
}
