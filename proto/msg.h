/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as plain structs, one for each message. msg_X_put() appends a whole frame, and msg_get()
 * makes a checked struct msg of a frame's payload. Strings from msg_get() are never NULL: an absent
 * one is "". Strings are UTF-8 without control characters. msg_X_put() accepts NULL for "". Names
 * from programs, such as that of a process, must be escaped by str_escape() before. Bytes may have
 * any value. Arrays are a pointer and a count `n<name>`. docs/protocol.md has the meaning of each
 * field.
 */
#ifndef PROTO_MSG_H
#define PROTO_MSG_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Versions of the protocol that this build supports. An unknown message closes the link, so each
 * change of the messages is a new version. A peer of another version is then refused with a text,
 * instead of being lost at the first unknown message. The contents of graphs and batches count as
 * well (docs/protocol.md).
 */
#define MSG_VERSION_MIN 6
#define MSG_VERSION_MAX 6

/* Names of missing sources at an end of events; a text for users may have 1024 bytes. */
#define MSG_MISSING_MAX_BYTES 1000

/* Reason in an ERROR. Its sender closes the link after it. */
enum msg_error_code {
	MSG_ERR_INTERNAL = 1,
	MSG_ERR_VERSION, /* no common protocol version; the text names both ranges */
	MSG_ERR_DENIED, /* the certificate does not permit the claims of HELLO */
	/* not now: too many tools, or the daemon ends; the peer tries again later */
	MSG_ERR_REFUSED,
	/* a frame or message breaks the rules: BAD_LENGTH, BAD_FIELD, TOO_DEEP, ... */
	MSG_ERR_PROTOCOL,
	MSG_ERR_STATE, /* the message is not permitted in this state of the link */
	MSG_ERR_SLOW, /* the queue to this peer exceeded its cap */
	MSG_ERR_REVOKED, /* the certificate was revoked */
};

enum msg_policy { MSG_WAIT_ALL, MSG_WAIT_QUORUM, MSG_WAIT_NOW };
enum msg_op { MSG_OP_PRESENT, MSG_OP_GONE };
enum msg_state {
	MSG_STATE_RUN,
	MSG_STATE_BLOCKED,
	MSG_STATE_READY,
	MSG_STATE_ZOMBIE,
	MSG_STATE_STOPPED,
	MSG_STATE_ENDED,
	MSG_STATE_UNREACHABLE,
};
enum msg_node_sub { MSG_NODE_UP, MSG_NODE_SILENT, MSG_NODE_LOST, MSG_NODE_HUNG };

/*
 * Made from omig.proto: struct msg_X of each message, and the list MSG_TYPES(X), which calls
 * X(NAME, name, number).
 */
#include "proto/messages.h"

#define MSG_TYPE_ENUM(NAME, name, number) MSG_##NAME = number,
enum msg_type { MSG_TYPES(MSG_TYPE_ENUM) MSG_TYPE_END = 54 };

enum msg_request_flags {
	/* requests the outcome of the request with that id, which is not executed again */
	MSG_REQUEST_OUTCOME = 1,
};

/* Policy of a subscription without room on disk. */
enum msg_keep_policy {
	MSG_KEEP_DROP_OLDEST,
	MSG_KEEP_DROP_NEWEST,
	MSG_KEEP_STOP, /* the source makes no further events until there is room */
};

#define MSG_UNION_MEMBER(NAME, name, number) struct msg_##name name;

/* `type` selects the member of the union. The struct owns everything that it points to. */
struct msg {
	uint8_t type; /* enum msg_type */
	union {
		MSG_TYPES(MSG_UNION_MEMBER)
	};
};

/*
 * Declares int msg_hello_put(struct buf *b, const struct msg_hello *m), and so on: each appends one
 * frame. Fails with ERR_LIMIT if the frame, a count or a length would exceed its limit: send it in
 * parts. Fails with ERR_INVALID for a string or number that a receiver would refuse, and with
 * ERR_NOMEM. b is unchanged then.
 */
#define MSG_PUT_DECLARE(NAME, name, number) \
	int msg_##name##_put(struct buf *b, const struct msg_##name *m);
MSG_TYPES(MSG_PUT_DECLARE)
#undef MSG_PUT_DECLARE

/* Appends any message, for forwarding and for tests. */
int msg_put(struct buf *b, const struct msg *m);

/*
 * Decodes the payload of a frame, in one allocation. The result does not refer to p. Fails with
 * ERR_PROTO, with a text that names the place: "BAD_FIELD reply.entry.objects: not UTF-8",
 * "TOO_DEEP ...", "TOO_MANY ...", "BAD_TYPE 77"; Fails with ERR_LIMIT "TOO_LARGE ..." if decoding
 * would need more than DECODE_HEAP_MAX_BYTES, and with ERR_NOMEM.
 */
int msg_get(uint8_t type, const uint8_t *p, size_t n, struct msg **out, struct err *e);

/* NULL is accepted. */
void msg_free(struct msg *m);

/*
 * Adds a source that is missing at an end of events to b, as "WHATNAME". b becomes
 * msg_events.missing. A name without room is left out, and the next end includes it.
 */
void msg_events_add_missing(struct buf *b, const char *what, const char *name);

/* Returns the name, such as "hello" or "reply"; "?" for a number without a message. */
const char *msg_type_name(uint8_t type);

#endif
