/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the events of numbered.c in event logs: `stored N twice N strange N`. It reads as omig log
 * does, but remembers each number.
 *
 *	numbers FILE...
 */
#include "common/base/str.h"
#include "eventlog/evfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RANK_SHIFT 40
#define RANKS_MAX 64
#define NUMBERS_MAX (INT64_C(1) << 31) /* of a rank: 256 MB of bits */

static struct seen {
	uint8_t *bit;
	size_t cap; /* bytes */
} seen[RANKS_MAX];

static uint64_t stored, twice, strange;

/*
 * Returns the byte of the bit, and grows the array as needed; NULL: the number is not one of this
 * test.
 */
static uint8_t *byte_of(int64_t number)
{
	int64_t rank = number >> RANK_SHIFT, n = number & ((INT64_C(1) << RANK_SHIFT) - 1);
	struct seen *s = rank >= 0 && rank < RANKS_MAX ? &seen[rank] : NULL;
	size_t need = (size_t)n / 8 + 1;

	if (!s || n >= NUMBERS_MAX)
		return NULL;
	if (need > s->cap) {
		size_t cap = 2 * need;
		uint8_t *bit = realloc(s->bit, cap);

		if (!bit)
			exit(1);
		memset(bit + s->cap, 0, cap - s->cap);
		s->bit = bit;
		s->cap = cap;
	}
	return &s->bit[n / 8];
}

static void count(const struct event *ev)
{
	bool is_ours = (str_eq(ev->type->name, "tick") || str_eq(ev->type->name, "tock")) &&
		       ev->type->nfield == 1 && ev->value[0].kind == EV_INT64;
	uint8_t *byte = is_ours ? byte_of(ev->value[0].i64) : NULL;
	unsigned mask = byte ? 1u << (ev->value[0].i64 & 7) : 0;

	if (!byte)
		strange++;
	else if (*byte & mask)
		twice++;
	else
		stored++;
	if (byte)
		*byte |= (uint8_t)mask;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct err e = { 0 };
		struct evfile *f;
		struct event ev;
		int got = evfile_open(argv[i], &f, &e);

		while (!got && (got = evfile_next(f, &ev, &e)) == 1) {
			count(&ev);
			got = 0;
		}
		if (got < 0) {
			fprintf(stderr, "%s: %s\n", argv[i], e.text);
			return 1;
		}
		evfile_close(f);
	}
	printf("stored %" PRIu64 " twice %" PRIu64 " strange %" PRIu64 "\n", stored, twice,
	       strange);
	return 0;
}
