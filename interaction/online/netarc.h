/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of arcs, as daemons send them upwards. An arc is sent as the event at its end, with the
 * times of the arc. Numbers are little-endian. A batch begins with a head:
 *
 *     u8 version, u64 sender
 *     varint number of the batch
 *     varint arcs in earlier batches, varint events lost so far
 *     zigzag base
 *
 * Records of at most NETARC_RECORD_BYTES follow, or none when the batch only reports losses:
 *
 *     u8 kind and flags
 *     u64 sub-task; u64 other, of a fork or join
 *     zigzag time - base; varint node + 1
 *     varint time - begin, if it is contracted
 *     u8 changes of use << 4 | pieces
 *     u8 for each change of use
 *     for each piece: varint objects << 1 | is_child, varint ns
 *
 * The rest of a long one follows in records of the kind MORE. NAME has the name of an interaction,
 * behind its source.
 */
#ifndef INTERACTION_ONLINE_NETARC_H
#define INTERACTION_ONLINE_NETARC_H

#include "interaction/network.h"

#define NETARC_RECORD_BYTES 48
/* A frame of a link has 1 MiB; each batch is sent by itself. */
#define NETARC_BATCH_BYTES (64u << 10)
#define NETARC_USES_MAX 256 /* at one event: as many as an event of a log may have */
/* name of an interaction; a longer one is cut */
#define NETARC_NAME_BYTES (NETARC_RECORD_BYTES - 10)

struct netarc_head {
	uint64_t sender, number; /* numbers begin at 1 */
	uint64_t before; /* arcs in all earlier batches of the sender */
	uint64_t lost; /* events that did not reach the sender, or had no room there */
	int64_t base;
};

struct netarc {
	struct network_event ev; /* its texts and pieces are in this struct; no name */
	struct network_use use[NETARC_USES_MAX];
	struct network_piece piece[NETWORK_PIECES_MAX];
	struct network_stretch stretch;
	char name[NETARC_NAME_BYTES + 1]; /* of the interaction, at its source; "" */
};

void netarc_put_head(struct buf *out, const struct netarc_head *h);

/*
 * Appends an arc. name: of the interaction, or NULL. ERR_LIMIT: more than NETARC_USES_MAX changes
 * of use; out->failed: no room.
 */
int netarc_put(struct buf *out, int64_t base, const struct network_event *ev, const char *name);

struct netarc_reader {
	const uint8_t *p; /* borrowed */
	size_t n, at;
	uint32_t objects; /* numbers of objects are below */
	struct netarc_head head;
};

/* ERR_PROTO: it is not a batch; e has the place. */
int netarc_open(struct netarc_reader *r, struct bytes batch, uint32_t objects, struct err *e);

/* Returns 1: an arc; 0: the end. ERR_PROTO. Nothing in a batch is trusted beyond its form. */
int netarc_next(struct netarc_reader *r, struct netarc *out, struct err *e);

#endif
