/* SPDX-License-Identifier: Apache-2.0 */
/* The table of open requests, for the thread sanitizer too. */
#include "common/base/hash.h"
#include "libapp/hot/requests.h"
#include "tests/suite.h"

#include <pthread.h>

enum { MANY = 6000, THREADS = 4, EACH = 800, ROUNDS = 40 };

static struct request request(uintptr_t key)
{
	return (struct request){ .key = key,
				 .kind = REQUEST_RECV,
				 .func = 3,
				 .comm = key + 1,
				 .generation = 7,
				 .bytes = (int64_t)key + 2,
				 .partner = 5 };
}

/* Takes the entry, and checks all its members. Returns false if there is none. */
static bool take(uintptr_t key)
{
	struct request r, want = request(key);

	if (!request_take(key, &r))
		return false;
	ck_assert_uint_eq(r.key, want.key);
	ck_assert_uint_eq(r.kind, want.kind);
	ck_assert_uint_eq(r.func, want.func);
	ck_assert_uint_eq(r.comm, want.comm);
	ck_assert_uint_eq(r.generation, want.generation);
	ck_assert_int_eq(r.bytes, want.bytes);
	ck_assert_int_eq(r.partner, want.partner);
	return true;
}

TEST(a_request_is_taken_once)
{
	const struct request r = request(77), none = request(0);

	ck_assert(requests_are_none());
	ck_assert(!take(77));
	ck_assert(!request_put(&none));
	ck_assert(request_put(&r));
	ck_assert(request_put(&r)); /* the handle was used again: one entry */
	ck_assert(!requests_are_none());
	ck_assert(take(77));
	ck_assert(!take(77));
	ck_assert(request_put(&r));
	request_drop(77);
	ck_assert(!take(77));
	ck_assert(requests_are_none());
}

TEST(requests_without_room_affect_no_others)
{
	static bool is_in[MANY];
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++) {
		const struct request r = request(i + 1);

		is_in[i] = request_put(&r);
		n += is_in[i];
	}
	ck_assert_uint_gt(n, 3800); /* of 4096: a search takes several steps */
	ck_assert_uint_le(n, 4096);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(take(i + 1), is_in[i]);
	ck_assert(requests_are_none());
}

/* Handles at any address: many of them begin to search at the same place. */
TEST(handles_that_meet_are_all_found)
{
	static uintptr_t key[MANY];
	static bool is_in[MANY];
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++) {
		struct request r;

		key[i] = hash_mix64(i) | 1 << 4;
		r = request(key[i]);
		is_in[i] = request_put(&r);
		n += is_in[i];
	}
	ck_assert_uint_gt(n, 3600); /* 3100 without a second step */
	for (unsigned i = MANY; i-- > 0;)
		ck_assert_int_eq(take(key[i]), is_in[i]);
	ck_assert(requests_are_none());
}

/* Separate keys, in a table so full that all threads search past each other's entries. */
static void *use_many(void *arg)
{
	const uintptr_t first = 1 + (uintptr_t)arg * EACH;
	bool is_in[EACH];

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < EACH; i++) {
			const struct request r = request(first + i);

			is_in[i] = request_put(&r);
		}
		for (unsigned i = 0; i < EACH; i++)
			ck_assert_int_eq(take(first + i), is_in[i]);
	}
	return NULL;
}

TEST(threads_find_what_they_put_in_between_each_others_entries)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, use_many, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert(requests_are_none());
}

/* A partitioned send remains until it is freed: each part is counted by its entry. */
TEST(a_persistent_request_stays_when_it_is_taken)
{
	struct request r = request(78), out;
	const struct request plain = request(79);

	r.kind = REQUEST_PSEND_INIT;
	ck_assert(!request_peek(78, &out));
	ck_assert(request_put(&r));
	ck_assert(request_put(&plain));
	ck_assert(request_peek(78, &out));
	ck_assert_uint_eq(out.key, 78);
	ck_assert_uint_eq(out.func, r.func);
	ck_assert_int_eq(out.bytes, r.bytes);
	ck_assert_int_eq(out.partner, r.partner);
	ck_assert(!request_peek(79, &out)); /* another kind is none to examine */
	ck_assert(request_take(78, &out));
	ck_assert(request_take(78, &out));
	ck_assert_uint_eq(out.kind, REQUEST_PSEND_INIT);
	/* Put again: the same entry, with all but its place in the list. */
	r.bytes = 1;
	ck_assert(request_put(&r));
	ck_assert(request_peek(78, &out));
	ck_assert_int_eq(out.bytes, 80);
	ck_assert(take(79));
	request_drop(78);
	ck_assert(!request_peek(78, &out));
	ck_assert(requests_are_none());
}

SUITE("requests")
