/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside of programs: no allocation, no lock, no system call. */
#include "common/board/board.h"

#include "common/base/array.h"
#include "common/base/hash.h"

#include <assert.h>
#include <string.h>

#define TRIES 64 /* attempts of a writer that others overtake */

void board_init(struct board *b, uint64_t salt)
{
	b->version = BOARD_VERSION;
	b->salt = salt;
	b->on = 1;
	__atomic_store_n(&b->magic, BOARD_MAGIC, __ATOMIC_RELEASE);
}

static uint64_t check_of(const struct board_record *r)
{
	uint64_t word[9], sum = r->turn;

	static_assert(sizeof(*r) == sizeof(word) + 2 * sizeof(uint64_t), "turn, check, the rest");
	memcpy(word, (const char *)r + 2 * sizeof(uint64_t), sizeof(word));
	for (size_t i = 0; i < ARRAY_LEN(word); i++)
		sum = hash_mix64(sum + word[i]);
	return sum;
}

/* Returns false if there is no room. */
static bool claim(struct board *b, uint64_t *at)
{
	*at = __atomic_load_n(&b->in, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < TRIES; i++) {
		if (*at - __atomic_load_n(&b->out, __ATOMIC_ACQUIRE) >= BOARD_RECORDS)
			return false;
		if (__atomic_compare_exchange_n(&b->in, at, *at + 1, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool board_put(struct board *b, const struct board_record *r)
{
	struct board_record copy = *r, *to;
	uint64_t at;

	if (!claim(b, &at)) {
		__atomic_fetch_add(&b->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	to = &b->record[at % BOARD_RECORDS];
	copy.turn = 2 * at + 1;
	copy.check = check_of(&copy);
	memcpy((char *)to + sizeof(to->turn), (char *)&copy + sizeof(copy.turn),
	       sizeof(copy) - sizeof(copy.turn));
	__atomic_store_n(&to->turn, copy.turn, __ATOMIC_RELEASE);
	return true;
}

/* No writer goes so far: a program has written over the board. All that is claimed is lost. */
static void resume(struct board *b, uint64_t in)
{
	__atomic_fetch_add(&b->lost, BOARD_RECORDS, __ATOMIC_RELAXED);
	__atomic_store_n(&b->out, in, __ATOMIC_RELEASE);
}

int board_get(struct board *b, struct board_record *out)
{
	uint64_t at = __atomic_load_n(&b->out, __ATOMIC_RELAXED);
	uint64_t in = __atomic_load_n(&b->in, __ATOMIC_ACQUIRE);
	struct board_record *r = &b->record[at % BOARD_RECORDS];

	if (at == in)
		return 0;
	if (in - at > BOARD_RECORDS) {
		resume(b, in);
		return 0;
	}
	if (__atomic_load_n(&r->turn, __ATOMIC_ACQUIRE) != 2 * at + 1)
		return -1;
	*out = *r;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the copy is checked, which nothing changes */
	out->turn = 2 * at + 1;
	if (out->check != check_of(out) || out->kind <= BOARD_NONE || out->kind >= BOARD_KINDS) {
		board_skip(b);
		return -1;
	}
	out->label[BOARD_LABEL_BYTES - 1] = '\0';
	__atomic_store_n(&b->out, at + 1, __ATOMIC_RELEASE);
	return 1;
}

void board_skip(struct board *b)
{
	__atomic_fetch_add(&b->lost, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&b->out, b->out + 1, __ATOMIC_RELEASE);
}

/* --- streams */

/* Inodes of pipes ascend, so the smallest is the oldest. */
static struct board_stream *oldest(struct board_stream *way)
{
	struct board_stream *first = &way[0];

	for (unsigned i = 1; i < BOARD_WAYS; i++)
		if (way[i].key < first->key)
			first = &way[i];
	return first;
}

static struct board_stream *replace(struct board *b, unsigned set, uint64_t key)
{
	struct board_stream *s = oldest(b->stream[set]);
	uint64_t was = __atomic_load_n(&s->key, __ATOMIC_RELAXED), most;

	most = __atomic_load_n(&b->replaced[set], __ATOMIC_RELAXED);
	if (was > most)
		__atomic_store_n(&b->replaced[set], was, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&s->key, &was, key, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return was == key ? s : NULL; /* another thread was faster */
	s->doubt = s->writers || s->readers || key < was || key <= most;
	s->written = s->read = s->peer = 0;
	s->writers = s->readers = 0;
	return s;
}

struct board_stream *board_stream(struct board *b, uint64_t key)
{
	unsigned set = (unsigned)(hash_mix64(key) % BOARD_SETS);
	struct board_stream *way = b->stream[set];

	for (unsigned i = 0; i < BOARD_WAYS; i++) {
		uint64_t now = __atomic_load_n(&way[i].key, __ATOMIC_ACQUIRE);

		if (now == key)
			return &way[i];
		if (!now && (__atomic_compare_exchange_n(&way[i].key, &now, key, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			     now == key))
			return &way[i];
	}
	return replace(b, set, key);
}
