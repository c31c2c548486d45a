/* SPDX-License-Identifier: Apache-2.0 */
/*
 * False messages of a rogue peer: well formed frames with false contents, and malformed frames. The
 * rogue knows the tokens of foreign hosts and its own earlier traffic. All choices are random.
 */
#ifndef SIM_ROGUES_LIES_H
#define SIM_ROGUES_LIES_H

#include "common/base/buf.h"
#include "common/base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Each invented value and reason contains this text. If a reply about another peer has it, a daemon
 * has accepted a lie.
 */
#define LIES_MARK "a rogue says so"

#define LIES_FRAMES 48 /* number of stored frames of the rogue */
#define LIES_FRAME_MAX_BYTES 4096 /* longer frames are not stored */
#define LIES_TOKENS 48 /* number of stored tokens of others, and of its own */
#define LIES_TOKEN_BYTES 40

/* The direction of a frame of the rogue: to its parent, or to a branch. */
enum lies_to { LIES_UP, LIES_DOWN };

struct lies_frame {
	uint8_t *p; /* owned; NULL: the slot is free */
	size_t n;
};

struct lies_tokens {
	char token[LIES_TOKENS][LIES_TOKEN_BYTES];
	size_t n;
};

struct lies {
	struct rng dice;
	struct lies_frame said[LIES_FRAMES], heard[LIES_FRAMES];
	struct lies_tokens others, own;
	uint64_t subjects; /* bits: types of messages that the rogue invents or changes */
	/*
	 * true: names objects of others, and is disconnected for that; false: names only its own
	 * objects
	 */
	bool is_bold;
	const char *site, *host; /* another peer, which messages pretend to be from; borrowed */
};

void lies_init(struct lies *l, uint64_t seed);

/* Clears the stored frames. */
void lies_done(struct lies *l);

/* Stores a frame that the rogue has sent or received. */
void lies_note_said(struct lies *l, const uint8_t *p, size_t n);
void lies_note_heard(struct lies *l, const uint8_t *p, size_t n);

/* Stores the tokens of nodes, processes and threads in a report of another peer. */
void lies_learn(struct lies *l, const uint8_t *p, size_t n);

/* Appends the frame with a false part; some frames stay unchanged. */
void lies_alter(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

/* Appends an invented frame. */
void lies_forge(struct lies *l, enum lies_to to, struct buf *out);

/* Appends an earlier frame of the rogue, unchanged (as_it_was) or altered. */
void lies_repeat(struct lies *l, bool as_it_was, struct buf *out);

/* Appends a malformed or incomplete frame. */
void lies_garble(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
