/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs: accepted bytes are written and read again unchanged. The input is used as a file. It
 * is also used as the records of a block with right checks, since no fuzzer finds a CRC.
 */
#include "common/base/hash.h"
#include "eventlog/evread.h"
#include "eventlog/evwrite.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void same(const struct event *a, const struct event *b)
{
	if (!evtype_equal(a->type, b->type) || a->ticks != b->ticks)
		abort();
	for (unsigned i = 0; i < a->type->nfield; i++)
		if (!evvalue_equal(&a->value[i], &b->value[i]))
			abort();
}

static void write_and_read(const struct event *ev)
{
	struct evread *r = evread_new();
	struct evwrite w;
	struct event again;
	struct err e = { 0 };
	size_t used;

	evwrite_init(&w, 1, ev->ticks & 1, 0);
	if (!r || evwrite_define(&w, 1, ev->type, &e) || evwrite_event(&w, 1, ev, &e) ||
	    evwrite_cut(&w, true, &e))
		abort();
	if (evread_push(r, w.out.p, w.out.n, true, &used) != EVREAD_BLOCK ||
	    !evread_next(r, &again))
		abort();
	same(ev, &again);
	evread_free(r);
	evwrite_done(&w);
}

static void read_all(const uint8_t *p, size_t n)
{
	struct evread *r = evread_new();
	struct event ev;
	size_t at = 0, used, events = 0;

	if (!r)
		abort();
	while (evread_push(r, p + at, n - at, true, &used) == EVREAD_BLOCK) {
		at += used;
		while (evread_next(r, &ev))
			if (events++ < 64)
				write_and_read(&ev);
	}
	if (evread_report(r)->events != events || evread_report(r)->bytes != n)
		abort();
	evread_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static uint8_t block[EVBLOCK_MAX_BYTES];
	struct evblock head = { .version = EVBLOCK_VERSION, .swap = n & 4 };
	size_t whole = n & ~(size_t)3;

	read_all(p, n);
	if (whole > sizeof(block) - EVBLOCK_HEAD_BYTES)
		return 0;
	memcpy(block + EVBLOCK_HEAD_BYTES, p, whole);
	head.bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + whole);
	head.crc = hash_crc32c(0, p, whole);
	evblock_encode(&head, block);
	read_all(block, head.bytes);
	return 0;
}
