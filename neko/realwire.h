/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a real run: datagrams between its processes, blocks of events to its master. Both are checked. */
#ifndef NEKO_REALWIRE_H
#define NEKO_REALWIRE_H

#include "common/base/buf.h"
#include "neko/event.h"
#include "neko/world.h"

#define REALWIRE_HEADER_BYTES 32
#define REALWIRE_DATAGRAM_MAX_BYTES (REALWIRE_HEADER_BYTES + NEKO_CONTENT_MAX_BYTES)
#define REALWIRE_BLOCK_MAX_BYTES \
	(8 * 1024 * 1024) /* of events that one process made in a twentieth of a second */
#define REALWIRE_WHAT_BYTES 64 /* of an event's description, with its 0 */

/* out has REALWIRE_DATAGRAM_MAX_BYTES. Returns how many. */
size_t realwire_datagram(uint8_t *out, uint64_t key, uint32_t to, const struct neko_msg *m);

/*
 * The message for process `to`, of one reference, or NULL: not of this run, not for it, of a type that nobody
 * declared, no memory.
 */
struct neko_msg *realwire_message(struct neko_world *w, uint64_t key, uint32_t to, uint8_t net,
				  const uint8_t *p, size_t n);

struct realwire_block {
	nsec_t until; /* no event before this one will come any more */
	uint64_t sent, delivered;
	uint32_t count, stuck;
	bool is_last, wants_stop;
	bool has_lost; /* events for which there was no room: what was told is a part */
};

/* Begins with its length, 4 bytes little-endian, which does not count itself; the events follow. */
void realwire_block(struct buf *out, const struct realwire_block *b);
void realwire_event(struct buf *out, const struct neko_event *v);
void realwire_end(struct buf *out, size_t begin); /* of the block that began at this byte */

/*
 * The block at the begin of p, when it is whole: *used becomes its bytes, 0 when more is needed. -ERR_PROTO. on_event
 * gets its events; what lives during the call.
 */
int realwire_read(const uint8_t *p, size_t n, size_t *used, struct realwire_block *out,
		  void (*on_event)(void *arg, const struct neko_event *v), void *arg);

#endif
