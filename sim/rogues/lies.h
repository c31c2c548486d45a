/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rogue peer may say: frames that are well formed and not true, and others that are neither.
 * It knows the tokens of hosts that are not its own, and what it has sent and heard itself. All
 * from dice.
 */
#ifndef SIM_ROGUES_LIES_H
#define SIM_ROGUES_LIES_H

#include "common/base/buf.h"
#include "common/base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stands in each value and reason that is made up. In a reply on another peer it shows that a
 * daemon believed a lie. */
#define LIES_MARK "a rogue says so"

#define LIES_FRAMES 48 /* of its own, that are remembered */
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
	uint64_t subjects; /* bits: types of messages that it makes up or says otherwise */
	bool is_bold; /* speaks of others: it is cut for that; else of itself, and stays */
	const char *site, *host; /* of another peer; borrowed */
};

void lies_init(struct lies *l, uint64_t seed);

/* Forgets what was said and heard. */
void lies_done(struct lies *l);

/* A frame that goes or comes. */
void lies_note_said(struct lies *l, const uint8_t *p, size_t n);
void lies_note_heard(struct lies *l, const uint8_t *p, size_t n);

/* All tokens of nodes, processes and threads in what another peer says of itself. */
void lies_learn(struct lies *l, const uint8_t *p, size_t n);

/* The frame with something in it that is not true: appended. It may be what it was. */
void lies_alter(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

/* One that nothing gave reason for. */
void lies_forge(struct lies *l, enum lies_to to, struct buf *out);

/* A frame that it has sent or received before; as it was, or altered too. */
void lies_repeat(struct lies *l, bool as_it_was, struct buf *out);

/* What is no frame, or half of one. */
void lies_garble(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
