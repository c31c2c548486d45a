/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter: the stream whole, byte by byte and in pieces yields the same frames and the same
 * end.
 */
#include "common/base/hash.h"
#include "common/base/limits.h"
#include "proto/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
	size_t frames;
	uint64_t sum; /* of types and payloads, in order */
	size_t pending;
	int rc;
};

/* A limit that changes after the first frame, as it does after HELLO. */
static void take(struct frame_in *f, struct outcome *o, struct err *e)
{
	struct frame fr;

	while ((o->rc = frame_in_next(f, &fr, e)) > 0) {
		o->frames++;
		o->sum = hash_mix64(o->sum ^ fr.type ^
				    (uint64_t)hash_crc32c(fr.type, fr.p, fr.n) << 8);
		frame_in_set_max(f, FRAME_MAX_BYTES);
	}
}

/* step 0: everything at once; else pieces of 1..step bytes, chosen by the input. */
static struct outcome run(const uint8_t *p, size_t n, size_t step)
{
	struct outcome o = { 0 };
	struct frame_in f;
	struct err e = { 0 };

	frame_in_init(&f, 64);
	for (size_t at = 0, k; at < n && o.rc >= 0; at += k) {
		k = step ? 1 + p[at] % step : n;
		k = k < n - at ? k : n - at;
		if (frame_in_add(&f, p + at, k, &e))
			abort();
		if (f.buf.cap > 2 * n + 4096)
			abort(); /* the buffer grew beyond the received bytes */
		take(&f, &o, &e);
	}
	o.pending = o.rc < 0 ? 0 : frame_in_pending(&f);
	frame_in_done(&f);
	return o;
}

static void same(const struct outcome *a, const struct outcome *b)
{
	if (a->frames != b->frames || a->sum != b->sum || a->rc != b->rc ||
	    a->pending != b->pending)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole = run(data, size, 0), bytes = run(data, size, 1),
		       pieces = run(data, size, 7);

	same(&whole, &bytes);
	same(&whole, &pieces);
	return 0;
}
