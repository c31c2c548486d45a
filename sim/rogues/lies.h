/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a rogue peer: frames that are well formed and false, and others that are malformed.
 * It knows the tokens of foreign hosts, and its own earlier traffic. Everything is drawn at random.
 */
#ifndef SIM_ROGUES_LIES_H
#define SIM_ROGUES_LIES_H

#include "common/base/buf.h"
#include "common/base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Part of each invented value and reason. In a reply about another peer it proves that a daemon
 * accepted a lie.
 */
#define LIES_MARK "a rogue says so"

#define LIES_FRAMES 48 /* stored ones of its own */
#define LIES_FRAME_MAX_BYTES 4096 /* longer ones are not */
#define LIES_TOKENS 48 /* of others, and as many of its own */
#define LIES_TOKEN_BYTES 40

/* The receiver, as seen from the rogue. */
enum lies_to { LIES_UP, LIES_DOWN };

struct lies_frame {
	uint8_t *p; /* owned; NULL: free */
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
	uint64_t subjects; /* bits: types of messages that it invents or changes */
	/* names objects of others, and is disconnected for it; else only its own, and stays */
	bool is_bold;
	const char *site, *host; /* of another peer; borrowed */
};

void lies_init(struct lies *l, uint64_t seed);

/* Clears the stored frames. */
void lies_done(struct lies *l);

/* Stores a frame that was sent or received. */
void lies_note_said(struct lies *l, const uint8_t *p, size_t n);
void lies_note_heard(struct lies *l, const uint8_t *p, size_t n);

/* Stores all tokens of nodes, processes and threads in a report of another peer. */
void lies_learn(struct lies *l, const uint8_t *p, size_t n);

/* Appends the frame with a false part, or unchanged. */
void lies_alter(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

/* Appends an invented frame. */
void lies_forge(struct lies *l, enum lies_to to, struct buf *out);

/* Appends an earlier frame; unchanged, or altered too. */
void lies_repeat(struct lies *l, bool as_it_was, struct buf *out);

/* Appends a malformed or incomplete frame. */
void lies_garble(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
