/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared medium: one station sends at a time, and all stations receive each frame.
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

#define MEDIUM_STATIONS_MAX 4096 /* each contention checks all of them */
#define MEDIUM_ATTEMPTS_MAX 16
#define MEDIUM_BACKOFF_MAX 10 /* doublings */
#define MEDIUM_SLOT_MAX     \
	((INT64_MAX / 4) >> \
	 MEDIUM_BACKOFF_MAX) /* 26 days: the longest wait may be added to a time */
#define MEDIUM_FRAME_LEAST_BITS 512 /* of an Ethernet: a collision ends within the frame */

/* Times in ns. */
struct medium_conf {
	enum medium_kind kind;
	double bits_per_s;
	uint32_t header_bytes;
	nsec_t slot; /* CSMA: twice the propagation delay; a collision costs one */
	nsec_t gap; /* CSMA: between two frames */
	nsec_t ttrt; /* FDDI: target of the token's rotation */
	nsec_t hop; /* FDDI: from a station to the next one */
	nsec_t sync; /* FDDI: time for which a station may send when it has the token */
	uint64_t queue_bytes; /* of a station; frames beyond it are dropped. 0: no limit */
};

/*
 * Returns the standard parameters of Ethernet (10 Mbit/s) or FDDI. False: there is no such medium.
 */
bool medium_usual(const char *name, struct medium_conf *out);

struct medium;

/* ERR_INVALID: impossible parameters; ERR_LIMIT, ERR_NOMEM. */
int medium_new(const struct medium_conf *c, uint32_t nstation, uint64_t seed, struct medium **out,
	       struct err *e);

/* Calls forget(arg, what) for each frame that was not sent. */
void medium_free(struct medium *m, void (*forget)(void *arg, void *what), void *arg);

/*
 * Queues a frame at a station, 1..n; medium_step() returns `what`. -ERR_LIMIT (no room),
 * -ERR_NOMEM.
 */
int medium_put(struct medium *m, nsec_t now, uint32_t station, size_t bytes, void *what);

/* The time of the next step; INT64_MAX: none until a frame is queued. */
nsec_t medium_next(const struct medium *m);

struct medium_frame {
	void *what;
	uint32_t station;
	bool is_given_up; /* after too many collisions */
};

/* Called at medium_next() or later. Returns true if a frame was sent completely, or given up. */
bool medium_step(struct medium *m, struct medium_frame *out);

/* The time from the end of a frame until the station `to` has received it. */
nsec_t medium_way(const struct medium *m, uint32_t from, uint32_t to);

struct medium_counts {
	uint64_t frames, collisions, empty, given_up;
	uint64_t epochs; /* CSMA-DCR: resolutions */
	uint64_t epoch_slots_most; /* collisions and empty slots of one resolution */
	uint64_t rotations; /* FDDI: of the token, seen at station 1 */
	nsec_t rotation_most, rotation_sum;
};

const struct medium_counts *medium_counts(const struct medium *m);

#endif
