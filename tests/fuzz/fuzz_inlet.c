/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a receiver of event logs gets. The first byte chooses pieces, or a datagram. All
 * blocks that are given out can be read. Those that the receiver has made have their descriptions.
 */
#include "eventlog/inlet/inlet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static int on_block(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place)
{
	unsigned *refusals = arg;
	struct evread *r = evread_new();
	struct event ev;
	size_t used;

	if (++*refusals % 3 == 0) {
		evread_free(r);
		return -ERR_AGAIN;
	}
	if (!r || evread_push(r, p, head->bytes, true, &used) < 0)
		abort();
	while (evread_next(r, &ev))
		;
	if (evread_report(r)->skipped_bytes ||
	    (head->stream == 5 && !place && evread_report(r)->undescribed))
		abort();
	evread_free(r);
	return 0;
}

static void feed(struct inlet *in, const uint8_t *p, size_t n, size_t piece)
{
	int rc = 0;

	for (size_t at = 0; at < n && !rc;) {
		size_t room, part = n - at < piece ? n - at : piece;
		uint8_t *to = inlet_room(in, &room);

		if (!room)
			abort();
		part = part < room ? part : room;
		memcpy(to, p + at, part);
		at += part;
		rc = inlet_push(in, part, at == n, NULL);
		while (rc == -ERR_AGAIN)
			rc = inlet_push(in, 0, at == n, NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct evline *line;
	unsigned refusals = 0;
	struct inlet_conf conf = { .on_block = on_block, .arg = &refusals, .stream = 5 };
	struct inlet *in;

	line = conf.line = line ? line : evline_new(EVWORDS_AUTO);
	in = inlet_new(&conf);
	if (!in || !line || !n) {
		inlet_free(in);
		return 0;
	}
	if (*p & 1)
		inlet_datagram(in, p + 1, n - 1, NULL);
	else
		feed(in, p + 1, n - 1, (*p >> 1) + 1u);
	inlet_free(in);
	return 0;
}
