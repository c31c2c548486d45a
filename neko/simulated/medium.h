/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line that all stations share and on which one sends at a time; all receive each frame.
 *
 * ethernet: CSMA/CD, 1-persistent, truncated binary exponential backoff, 16 attempts (IEEE 802.3).
 * csma_dcr: the same until a collision. A search of the binary tree of all stations then lets each
 * station that collided send once, in bounded time; others wait until it is over (Le Lann,
 * deterministic collision resolution).
 * fddi: a ring with the timed token protocol (ANSI X3.139). A late token allows synchronous frames
 * only, an early one also others for the time that it is early.
 */
#ifndef NEKO_SIMULATED_MEDIUM_H
#define NEKO_SIMULATED_MEDIUM_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum medium_kind { MEDIUM_NONE, MEDIUM_ETHERNET, MEDIUM_CSMA_DCR, MEDIUM_FDDI };

#define MEDIUM_STATIONS_MAX 4096 /* looked at one by one at each contention */
#define MEDIUM_ATTEMPTS_MAX 16
#define MEDIUM_BACKOFF_MAX 10 /* doublings */
#define MEDIUM_SLOT_MAX     \
	((INT64_MAX / 4) >> \
	 MEDIUM_BACKOFF_MAX) /* 26 days: the longest wait may be added to a time */
#define MEDIUM_FRAME_LEAST_BITS 512 /* of an Ethernet: a collision is heard before it ends */

/* Times in ns. */
struct medium_conf {
	enum medium_kind kind;
	double bits_per_s;
	uint32_t header_bytes;
	nsec_t slot; /* CSMA: twice the way along the line; a collision costs one */
	nsec_t gap; /* CSMA: between two frames */
	nsec_t ttrt; /* FDDI: target of the token's rotation */
	nsec_t hop; /* FDDI: from a station to the next one */
	nsec_t sync; /* FDDI: what each station may send whenever it has the token */
	uint64_t queue_bytes; /* of a station; what does not fit is dropped. 0: no limit */
};

/* What Ethernet (10 Mbit/s) and FDDI are. false: there is no such medium. */
bool medium_usual(const char *name, struct medium_conf *out);

struct medium;

/* ERR_INVALID: it cannot work; ERR_LIMIT, ERR_NOMEM. */
int medium_new(const struct medium_conf *c, uint32_t nstation, uint64_t seed, struct medium **out,
	       struct err *e);

/* Frames that are not sent yet are forgotten: forget(arg, what) of each. */
void medium_free(struct medium *m, void (*forget)(void *arg, void *what), void *arg);

/* Waits its turn at a station, 1..n. `what` comes back from medium_step(). -ERR_LIMIT: no room;
 * -ERR_NOMEM. */
int medium_put(struct medium *m, nsec_t now, uint32_t station, size_t bytes, void *what);

/* When something happens next; INT64_MAX: nothing, until a frame is put. */
nsec_t medium_next(const struct medium *m);

struct medium_frame {
	void *what;
	uint32_t station;
	bool is_given_up; /* after too many collisions */
};

/* At medium_next() or later: true when a frame was sent whole, or given up. */
bool medium_step(struct medium *m, struct medium_frame *out);

/* From the end of a frame until the station `to` has it. */
nsec_t medium_way(const struct medium *m, uint32_t from, uint32_t to);

struct medium_counts {
	uint64_t frames, collisions, empty, given_up;
	uint64_t epochs; /* CSMA-DCR: resolutions */
	uint64_t epoch_slots_most; /* collisions and empty slots of one */
	uint64_t rotations; /* FDDI: of the token, seen at station 1 */
	nsec_t rotation_most, rotation_sum;
};

const struct medium_counts *medium_counts(const struct medium *m);

#endif
