/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies on the wire: struct reply <-> messages. A reply that is too large for one frame is sent
 * in parts; the last one has the coverage.
 */
#ifndef TREE_WIRE_H
#define TREE_WIRE_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"

#define WIRE_PART_ENTRIES 4000 /* per REPLY: far below PROTO_ELEMENTS_MAX */
/* Texts per part; a single larger entry is sent as one part. */
#define WIRE_PART_BYTES (512 * 1024)

/*
 * Appends the frames of the reply (id, kind, csr from r). An entry too large for a frame becomes an
 * error that reports it. -ERR_LIMIT: b would exceed its limit; -ERR_NOMEM. b is unchanged then.
 */
int wire_put_reply(struct buf *b, const struct reply *r);

/*
 * Adds one part to the earlier ones; the reply is complete if the message does not have `more`.
 * -ERR_NOMEM, -ERR_LIMIT: `into` then has a piece of the part.
 */
int wire_add_reply(struct reply *into, const struct msg_reply *m);

/* Adds the entries (and nothing else) of other messages. */
int wire_add_entries(struct reply *into, const struct msg_entry *entry, size_t n);

/*
 * Converts the entries of r from `first` on, at most max, to those of a message, which borrow from
 * r. Returns how many.
 */
size_t wire_entries(const struct reply *r, size_t first, struct msg_entry *out, size_t max);

/* The receiver of messages; as link_send(). */
struct wire_sink {
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/*
 * Sends an ARM_ACK or FLOW_ACK with the entries of r, at most max. If they are too large for one
 * message, sends it without them: the acknowledgement matters more than the errors.
 */
void wire_send_ack(const struct wire_sink *to, struct msg *m, const struct reply *r, size_t max);

#endif
