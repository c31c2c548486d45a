/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as plain structs. One struct per message; msg_X_put() appends a
 * whole frame, msg_get() makes a checked struct msg of a frame's payload.
 *
 * Strings are never NULL in what msg_get() returns ("" when absent), are
 * UTF-8 without control characters, and a put takes NULL for "". Names that come from
 * programs (a process's name) go through str_escape() before they are put. Bytes are
 * anything. Arrays are a pointer and a count `n<name>`.
 * Field by field meaning: docs/protocol.md.
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
 * Versions of the protocol that this build speaks. Who hears a message that his does not have
 * closes the link, so each change of the messages is another version: then a mixed monitor is
 * refused in words, instead of losing hosts at the first such message. What graphs and batches have
 * inside of their messages counts as well (docs/protocol.md).
 */
#define MSG_VERSION_MIN 3
#define MSG_VERSION_MAX 3

/* of the names of those whom an end of events lacks: a sentence for people may have 1024 */
#define MSG_MISSING_MAX_BYTES 1000

/* The one list of messages: X(NAME, name, number). */
#define MSG_TYPES(X)                    \
	X(HELLO, hello, 1)              \
	X(HELLO_ACK, hello_ack, 2)      \
	X(ENROL, enrol, 3)              \
	X(ENROL_ACK, enrol_ack, 4)      \
	X(PING, ping, 5)                \
	X(PONG, pong, 6)                \
	X(BYE, bye, 7)                  \
	X(ERROR, error, 8)              \
	X(REQUEST, request, 10)         \
	X(REPLY, reply, 11)             \
	X(CANCEL, cancel, 12)           \
	X(DIRECTORY, directory, 20)     \
	X(ARM, arm, 21)                 \
	X(DISARM, disarm, 22)           \
	X(TRIGGERED, triggered, 23)     \
	X(ARM_ACK, arm_ack, 24)         \
	X(TOOL_GONE, tool_gone, 25)     \
	X(LET_GO, let_go, 26)           \
	X(RELEASE, release, 27)         \
	X(DISOWN, disown, 28)           \
	X(LOSSES, losses, 29)           \
	X(REVOKED, revoked, 30)         \
	X(STOP, stop, 32)               \
	X(FLOW_LOAD, flow_load, 40)     \
	X(FLOW_ACK, flow_ack, 41)       \
	X(FLOW_END, flow_end, 42)       \
	X(FLOW_READ, flow_read, 43)     \
	X(FLOW_BATCH, flow_batch, 44)   \
	X(EVENTS_OPEN, events_open, 50) \
	X(EVENTS, events, 51)           \
	X(EVENTS_ACK, events_ack, 52)   \
	X(EVENTS_END, events_end, 53)

#define MSG_TYPE_ENUM(NAME, name, number) MSG_##NAME = number,
enum msg_type { MSG_TYPES(MSG_TYPE_ENUM) MSG_TYPE_END = 54 };

/* Why a peer is told ERROR; sent once, then the sender closes. */
enum msg_error_code {
	MSG_ERR_INTERNAL = 1,
	MSG_ERR_VERSION, /* no common protocol version; the text names both ranges */
	MSG_ERR_DENIED, /* the certificate does not allow what HELLO says */
	MSG_ERR_REFUSED, /* not now: too many tools, going down; try again later */
	/* a frame or message that breaks the rules: BAD_LENGTH, BAD_FIELD, TOO_DEEP, ... */
	MSG_ERR_PROTOCOL,
	MSG_ERR_STATE, /* this message is not allowed in this state of the link */
	MSG_ERR_SLOW, /* the queue towards this peer passed its cap */
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

struct bytes {
	const uint8_t *p; /* NULL only when n is 0 */
	size_t n;
};

/* First message of the side that dialled. */
struct msg_hello {
	uint32_t version_min, version_max;
	const char *role; /* "lm", "sm", "tool" */
	const char *site, *host;
	const char *listen; /* sm: "host:port" list, else "" */
	uint64_t epoch; /* wall ns of this daemon's start */
	uint32_t node; /* number held from before; 0 = none */
	const char *software; /* name and version, for status and the log */
	bool want_redirect; /* tell me which sm is mine, if it is another one */
	uint64_t attach; /* lm: grows each time that it looks for a parent; epoch at first */
};

/* The answer; only with it is the link up. */
struct msg_hello_ack {
	uint32_t version;
	uint64_t epoch;
	const char *name;
	uint32_t node;
	uint32_t site_number;
	uint32_t tool; /* session number for a tool */
	const char *redirect; /* "host:port", "wait", or "" */
	const char *site;
	uint64_t retry_ms; /* with "wait": ask again after this */
	int64_t system_time_ns;
	const char *parents; /* to try when this one is lost: each as redirect, by blanks */
	uint32_t level; /* daemons above the one that answers: 0 = it is mainsm */
};

struct msg_enrol {
	const char *token_id;
	struct bytes secret;
	const char *role, *site, *host;
	struct bytes csr_der;
	const char *name;
};

struct msg_enrol_ack {
	struct bytes cert_der, ca_der;
	const char *error; /* "" = granted */
};

struct msg_ping {
	uint64_t seq;
	int64_t sent_ns; /* sender's clock, echoed untouched */
};

struct msg_pong {
	uint64_t seq;
	int64_t sent_ns;
	int64_t system_time_ns; /* responder's idea of the system's time */
	int64_t error_ns; /* its bound; >= 0 */
};

struct msg_bye {
	const char *reason;
};

struct msg_error {
	uint32_t code; /* enum msg_error_code; unknown ones may come */
	const char *text;
};

enum msg_request_flags {
	/* what became of the one with that id; it is not executed any more */
	MSG_REQUEST_OUTCOME = 1,
};

struct msg_request {
	uint64_t id;
	uint32_t tool;
	const char *identity; /* of the tool, end to end: checked again at the lm */
	uint32_t right;
	int64_t deadline_ns; /* remaining; relative, as clocks differ */
	uint32_t policy; /* enum msg_policy */
	uint32_t quorum; /* objects */
	struct bytes text;
	const uint32_t *action; /* original index of each action in text */
	size_t naction;
	uint32_t flags; /* enum msg_request_flags */
	uint32_t depth; /* events that led to it, one by an action of the other */
	const char *csr; /* whose actions these are; "" = a tool's own request */
	/* id of a tool's request, end to end: an lm manipulates at most once for it; 0 = none */
	uint64_t op_epoch, op;
};

struct msg_entry {
	uint32_t action; /* 0 = the request as passive object, i = its i-th action */
	const char *objects;
	uint32_t status;
	struct bytes value;
};

struct msg_missing {
	const char *object, *reason;
};

struct msg_coverage {
	uint32_t asked, answered;
	const struct msg_missing *missing;
	size_t nmissing;
	int64_t oldest_ns, newest_ns;
};

struct msg_reply {
	uint64_t id;
	uint32_t kind; /* 0 final, else status code of a CSR */
	const struct msg_entry *entry;
	size_t nentry;
	const struct msg_coverage *coverage; /* NULL when absent */
	const char *csr;
	/* further parts with this id follow; entries add up, coverage comes with the last */
	bool more;
};

struct msg_cancel {
	uint64_t id;
};

struct msg_object {
	const char *token, *parent;
	uint32_t op; /* enum msg_op */
	const char *name;
	int64_t pid;
	int32_t rank; /* -1 none */
	int32_t world_size;
	const char *job, *flavour;
	uint32_t state; /* enum msg_state */
	int32_t exit_status;
	int64_t time_ns;
	uint32_t sub; /* enum msg_node_sub */
	const char *site, *host;
};

struct msg_directory {
	bool full; /* a snapshot of the node: what is absent is gone */
	uint32_t node;
	const struct msg_object *object;
	size_t nobject;
	bool more; /* the snapshot goes on in the next DIRECTORY of this node */
	/* of an sm: the higher one says who serves the node now; 0 = it does not say */
	uint64_t attach;
};

struct msg_arm {
	const char *csr;
	uint32_t tool;
	const char *identity;
	uint32_t version;
	struct bytes text;
	uint32_t local_prefix; /* how many leading actions run at the lm */
	bool reply; /* send TRIGGERED */
};

struct msg_arm_ack {
	const char *csr;
	uint32_t version;
	const struct msg_entry *entry;
	size_t nentry;
};

struct msg_disarm {
	const char *csr;
};

struct msg_par {
	uint32_t index;
	struct bytes value;
};

struct msg_triggered {
	const char *csr;
	uint32_t tool;
	uint64_t seq;
	int64_t time_ns;
	const char *node, *proc, *thread;
	const struct msg_par *par;
	size_t npar;
	const struct msg_entry *entry;
	size_t nentry;
	uint64_t dropped;
	bool held; /* the process waits for RELEASE */
	uint32_t depth; /* of the list whose action caused the event; 0 = the program itself */
};

/* The actions of a firing have ended. */
struct msg_release {
	const char *csr;
	uint64_t seq;
	const char *node; /* that told of it */
};

/* Events of a conditional request that were lost, and that no TRIGGERED has told of. */
struct msg_losses {
	const char *csr;
	uint64_t dropped;
	bool is_last; /* the answer to DISARM: it is not armed there any more */
};

/* That number is not the one of that host: who serves it as that forgets it, and the host asks
 * mainsm for its own. */
struct msg_disown {
	uint32_t node;
	const char *host;
};

struct msg_tool_gone {
	uint32_t tool;
};

/* What tools have stopped shall run: nobody can be asked any more. */
struct msg_let_go {
	const char *reason;
};

/* A part of a measurement's graph and where it runs. */
struct msg_flow_piece {
	const char *object; /* a node or a site */
	struct bytes graph; /* docs/flow.md */
};

struct msg_flow_load {
	uint32_t measurement; /* not 0 */
	uint32_t tool;
	const char *identity; /* as in request */
	uint64_t version;
	int64_t start_ns;
	int64_t every_ns; /* 0 = reads come by FLOW_READ only */
	uint64_t read; /* the last one that is closed above */
	const struct msg_flow_piece *piece;
	size_t npiece;
	bool more; /* further pieces of this version follow */
};

struct msg_flow_ack {
	uint32_t measurement;
	uint64_t version;
	const struct msg_entry *entry;
	size_t nentry;
};

struct msg_flow_end {
	uint32_t measurement;
};

struct msg_flow_read {
	uint32_t measurement;
	uint64_t read;
	int64_t time_ns;
};

struct msg_flow_batch {
	uint32_t measurement;
	uint64_t read;
	int64_t time_ns;
	const char *object; /* whose piece sends; "" = of several nodes, the links tell */
	const struct bytes *batch; /* docs/flow.md */
	size_t nbatch;
	uint64_t dropped; /* frames of the measurement since the last one that did not fit */
};

/* What a kept subscription does when its room on disk is used up. */
enum msg_keep_policy {
	MSG_KEEP_DROP_OLDEST,
	MSG_KEEP_DROP_NEWEST,
	MSG_KEEP_STOP, /* the source makes no more until there is room */
};

/* A kept subscription is there, and what has come of it and was not acknowledged is wanted
 * (again). */
struct msg_events_open {
	const char *sub; /* its name */
	const char *identity; /* its owner */
	/* number of this opening, which the answers bear; 0 = nothing is wanted now */
	uint64_t stream;
	uint32_t room; /* messages that may be on their way unacknowledged */
	uint32_t policy; /* enum msg_keep_policy */
	uint64_t max_bytes; /* on a disk */
	uint32_t lease_s; /* it ends when nobody has wanted anything for so long */
	bool ending; /* no more is made; what is there still comes */
};

struct msg_events {
	const char *sub;
	uint64_t stream, place; /* place: what acknowledges these, and all before */
	struct bytes blocks; /* whole blocks of docs/eventlog.md */
	bool end; /* nothing more will come */
	/* of an end: who may have something still, and is not there; NULL or "": nobody */
	const char *missing;
};

struct msg_events_ack {
	const char *sub;
	uint64_t stream, place;
};

/* The subscription is over; what is kept for it is thrown away. */
struct msg_events_end {
	const char *sub, *identity;
};

struct msg_revoked {
	const struct bytes *serial;
	size_t nserial;
};

struct msg_stop {
	const char *reason;
};

#define MSG_UNION_MEMBER(NAME, name, number) struct msg_##name name;

/* type says which member of the union is meant. Everything it points to is its own. */
struct msg {
	uint8_t type; /* enum msg_type */
	union {
		MSG_TYPES(MSG_UNION_MEMBER)
	};
};

/*
 * int msg_hello_put(struct buf *b, const struct msg_hello *m), and so on: appends one frame.
 * -ERR_LIMIT: the frame would pass FRAME_MAX_BYTES or a count or length its limit (send it in
 * parts); -ERR_INVALID: a string or number that a receiver would refuse; -ERR_NOMEM. b is unchanged
 * then.
 */
#define MSG_PUT_DECLARE(NAME, name, number) \
	int msg_##name##_put(struct buf *b, const struct msg_##name *m);
MSG_TYPES(MSG_PUT_DECLARE)
#undef MSG_PUT_DECLARE

/* Appends whichever it is: for relaying and for tests. */
int msg_put(struct buf *b, const struct msg *m);

/*
 * Decodes the payload of a frame. Nothing of p is referred to afterwards.
 * ERR_PROTO with a text that names the place: "BAD_FIELD reply.entry.objects: not UTF-8",
 * "TOO_DEEP ...", "TOO_MANY ...", "BAD_TYPE 77"; ERR_LIMIT "TOO_LARGE ..." (would take more than
 * DECODE_HEAP_MAX_BYTES); ERR_NOMEM. One allocation.
 */
int msg_get(uint8_t type, const uint8_t *p, size_t n, struct msg **out, struct err *e);

/* NULL is fine. */
void msg_free(struct msg *m);

/*
 * One more who is missing at an end of events, as "WHATNAME" in the list that is
 * msg_events.missing; b has nothing else. Who does not fit is left out: who is looked for among so
 * many is found one after another.
 */
void msg_events_add_missing(struct buf *b, const char *what, const char *name);

/* "hello", "reply", ...; "?" for a number that is no message. */
const char *msg_type_name(uint8_t type);

#endif
