/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies on the wire: struct reply <-> messages. A reply that is too large for one frame is sent
 * in parts; the last one has the coverage.
 */
#ifndef TREE_WIRE_H
#define TREE_WIRE_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"

#define WIRE_PART_ENTRIES 4000 /* entries per REPLY: far below PROTO_ELEMENTS_MAX */
/* Bytes of texts per part; a single larger entry is sent as one part. */
#define WIRE_PART_BYTES (512 * 1024)

/*
 * Appends the frames of the reply (id, kind, csr from r). An entry too large for a frame is
 * replaced by an error. Fails with ERR_LIMIT if b would exceed its limit, and with ERR_NOMEM; b is
 * unchanged then.
 */
int wire_put_reply(struct buf *b, const struct reply *r);

/*
 * Adds one part to the earlier ones. The reply is complete unless the message has `more`. After
 * -ERR_NOMEM and -ERR_LIMIT `into` may have some entries of the part.
 */
int wire_add_reply(struct reply *into, const struct msg_reply *m);

/* Adds the entries of another message, and nothing else of it. */
int wire_add_entries(struct reply *into, const struct msg_entry *entry, size_t n);

/*
 * Converts at most max entries of r, from `first` on, to entries of a message, which borrow from r.
 * Returns their number.
 */
size_t wire_entries(const struct reply *r, size_t first, struct msg_entry *out, size_t max);

/* The receiver of messages. send() is like link_send(). */
struct wire_sink {
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/*
 * Sends an ARM_ACK or FLOW_ACK with at most max entries of r. If they do not fit in one message,
 * sends it without entries: the acknowledgement is more important.
 */
void wire_send_ack(const struct wire_sink *to, struct msg *m, const struct reply *r, size_t max);

#endif
