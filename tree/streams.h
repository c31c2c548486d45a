/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a subscription at an inner node. Each branch sends its blocks of events until it
 * reports their end. Each opening of a stream has a new number, and blocks that were not
 * acknowledged are sent again. Messages with blocks stay in the window of the subscription until
 * the receiver or the disk has them. stream_states has the states of a stream; docs/states.md shows
 * them.
 */
#ifndef TREE_STREAMS_H
#define TREE_STREAMS_H

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "tree/states.h"

#include <stdbool.h>
#include <stddef.h>

#define STREAM_ROOM_MAX 8 /* unacknowledged messages of half a MiB from one branch */
/* Bytes per subscription that are not stored yet; half of a spooler's limit. */
#define STREAM_WINDOW_BYTES (8u << 20)
/*
 * time in which branches return, also after a restart of this daemon; tools wait longer for the end
 * of a stream
 */
#define STREAM_RETURN_NS (10 * NSEC_PER_SEC)

struct branches;
struct buf;
struct msg_events_open;

enum stream_state {
	STREAM_AWAY, /* not connected; may still have blocks */
	STREAM_OPEN,
	STREAM_SHUT, /* a message found no room, and will be sent again */
	STREAM_ENDED, /* the branch has reported the end */
	STREAM_STATES
};

enum stream_event { STREAM_OPENED, STREAM_FULL, STREAM_LAST, STREAM_LOST, STREAM_EVENTS };

extern const struct states stream_states;

/* Only streams.c changes the members. */
struct stream {
	struct list in_all;
	char name[NAME_MAX_BYTES + 4]; /* name of the branch in lists of missing sources */
	enum stream_state state;
	bool has_branch;
	uint32_t branch; /* index of the branch */
	uint64_t number; /* number of the last opening; 0: closed */
	char *missing; /* owned: missing sources, as reported at the end; NULL: none */
};

/* A message whose blocks are not stored yet. */
struct stream_message {
	uint64_t number, place; /* number of the opening, and the message's place in it */
	uint64_t mark; /* increases with each message of a stream */
	uint32_t branch;
	uint32_t bytes;
};

struct streams_conf {
	size_t bytes; /* size of the owner's struct, which begins with a struct stream */
	uint64_t *number; /* number of the last opening, shared by several subscriptions */
	/* Called when the state has changed from `was`. May be NULL. */
	void (*on_step)(void *arg, struct stream *x, enum stream_state was);
	/* Frees the other members of the owner's struct. May be NULL. */
	void (*on_free)(void *arg, struct stream *x);
	void *arg;
};

/* Only streams.c changes the members. */
struct streams {
	struct streams_conf conf;
	struct list all; /* struct stream by in_all, owned */
	struct map by_branch; /* streams with a branch, by its index */
	unsigned n[STREAM_STATES];
	struct stream_message *message; /* owned; the oldest message first */
	size_t nmessage, capmessage;
	size_t unsafe; /* bytes of all messages in the window */
};

void streams_init(struct streams *xs, const struct streams_conf *conf);
void streams_done(struct streams *xs);

/* Adds a stream without a branch. Returns NULL without memory. */
struct stream *streams_add(struct streams *xs, const char *name, enum stream_state state);
void stream_free(struct streams *xs, struct stream *x);

/* Returns NULL if that branch has no stream. */
struct stream *streams_at(const struct streams *xs, uint32_t branch);

/*
 * Returns the stream of the branch: its current one, an absent one with that name, or a new one.
 * Returns NULL without memory.
 */
struct stream *streams_come(struct streams *xs, uint32_t branch, const char *name, bool *is_new);

/* Called when a stream loses its branch. */
void stream_leave(struct streams *xs, struct stream *x);

void stream_step(struct streams *xs, struct stream *x, enum stream_event ev);

/*
 * stream_open() begins the next opening of a stream that has a branch. stream_send_open() requests
 * it from the branch, with room for so many messages.
 */
void stream_open(struct streams *xs, struct stream *x);
void stream_send_open(const struct branches *to, const struct stream *x,
		      const struct msg_events_open *wanted, uint32_t room);

/* Marks the stream as closed. */
void stream_close(struct stream *x);

/* Notes that a branch has reported the end of its stream. Without memory, `missing` is lost. */
void stream_end(struct streams *xs, struct stream *x, const char *missing);

/* Writes the absent branches and the missing sources of ended streams, separated by commas. */
void streams_write_missing(const struct streams *xs, struct buf *b);

/* --- the window */

/* Reserves room for n messages in all. -ERR_NOMEM, -ERR_LIMIT. */
int streams_reserve(struct streams *xs, size_t n);

/* Adds a message. There must be room for it. */
void streams_hold(struct streams *xs, const struct stream_message *m);

/* Returns the number of messages of the stream's present opening. */
unsigned streams_held(const struct streams *xs, const struct stream *x);

/*
 * Releases messages up to the mark: those of the stream's opening, or of all streams if x is NULL.
 * Calls `safe`, which may be NULL, for each message, the oldest first. O(n) in the messages.
 */
void streams_release(struct streams *xs, const struct stream *x, uint64_t mark,
		     void (*safe)(void *arg, const struct stream_message *m), void *arg);

#endif
