/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies on the wire: struct reply <-> messages. A reply that is too large
 * for one frame travels in parts; the coverage comes with the last one.
 */
#ifndef TREE_WIRE_H
#define TREE_WIRE_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"

#define WIRE_PART_ENTRIES 4000 /* of one REPLY: far below PROTO_ELEMENTS_MAX */
/* of its texts, as long as one entry alone is not larger */
#define WIRE_PART_BYTES (512 * 1024)

/*
 * Appends the frames of the reply (id, kind, csr as they stand in r). An entry that no
 * frame could hold becomes an error that says so. -ERR_LIMIT: more than b may hold; -ERR_NOMEM. b
 * is unchanged then.
 */
int wire_put_reply(struct buf *b, const struct reply *r);

/*
 * Adds one part to what came before it: the reply is whole when the message does not say
 * `more`. -ERR_NOMEM, -ERR_LIMIT: `into` holds a piece of the part then.
 */
int wire_add_reply(struct reply *into, const struct msg_reply *m);

/* The entries (and nothing else) of other messages that carry some. */
int wire_add_entries(struct reply *into, const struct msg_entry *entry, size_t n);

/* The entries of r from `first` on, at most max, as a message has them; they borrow from r. Returns
 * how many. */
size_t wire_entries(const struct reply *r, size_t first, struct msg_entry *out, size_t max);

/* What sends a message on; as link_send(). */
struct wire_sink {
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/*
 * Sends an ARM_ACK or FLOW_ACK with the entries of r, at most max. When they are too large for one
 * message it goes without them: that it is done matters more than what is wrong.
 */
void wire_send_ack(const struct wire_sink *to, struct msg *m, const struct reply *r, size_t max);

#endif
