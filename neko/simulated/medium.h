/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared medium: one station sends at a time, and all stations receive each frame.
 *
 * ethernet: CSMA/CD, 1-persistent, truncated binary exponential backoff, 16 attempts (IEEE 802.3).
 * csma_dcr: like ethernet, until a collision. Then a search of the binary tree of all stations lets
 * each station that collided send once, in bounded time. Other stations wait until the end of the
 * search (Le Lann, deterministic collision resolution). fddi: a ring with the timed token protocol
 * (ANSI X3.139). With a late token a station may send synchronous frames only. With an early token
 * it may also send others, for the time by which the token is early.
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

#define MEDIUM_STATIONS_MAX 4096 /* each contention examines all stations */
#define MEDIUM_ATTEMPTS_MAX 16
#define MEDIUM_BACKOFF_MAX 10 /* number of doublings */
#define MEDIUM_SLOT_MAX     \
	((INT64_MAX / 4) >> \
	 MEDIUM_BACKOFF_MAX) /* 26 days: the longest wait may be added to a time */
#define MEDIUM_FRAME_LEAST_BITS 512 /* smallest Ethernet frame: a collision ends within it */

/* Times in ns. */
struct medium_conf {
	enum medium_kind kind;
	double bits_per_s;
	uint32_t header_bytes;
	nsec_t slot; /* CSMA: twice the propagation delay, which is the cost of a collision */
	nsec_t gap; /* CSMA: time between two frames */
	nsec_t ttrt; /* FDDI: target time of the token's rotation */
	nsec_t hop; /* FDDI: time of the token from a station to the next one */
	nsec_t sync; /* FDDI: time for which a station may send synchronous frames */
	uint64_t queue_bytes; /* queue of a station; frames beyond it are dropped; 0: no limit */
};

/*
 * Returns the standard parameters of Ethernet (10 Mbit/s) or FDDI. Returns false if there is no
 * such medium.
 */
bool medium_usual(const char *name, struct medium_conf *out);

struct medium;

/* Fails with ERR_INVALID for impossible parameters, ERR_LIMIT, ERR_NOMEM. */
int medium_new(const struct medium_conf *c, uint32_t nstation, uint64_t seed, struct medium **out,
	       struct err *e);

/* Calls forget(arg, what) for each frame that was not sent. */
void medium_free(struct medium *m, void (*forget)(void *arg, void *what), void *arg);

/*
 * Queues a frame at a station, 1..n; medium_step() returns `what`. Fails with ERR_LIMIT if there is
 * no room, ERR_NOMEM.
 */
int medium_put(struct medium *m, nsec_t now, uint32_t station, size_t bytes, void *what);

/* Returns the time of the next step; INT64_MAX if there is none until a frame is queued. */
nsec_t medium_next(const struct medium *m);

struct medium_frame {
	void *what;
	uint32_t station;
	bool is_given_up; /* too many collisions: the frame was not sent */
};

/*
 * Called at medium_next() or later. Returns true if a frame was sent completely, or was given up.
 */
bool medium_step(struct medium *m, struct medium_frame *out);

/* Returns the time from the end of a frame until the station `to` has received it. */
nsec_t medium_way(const struct medium *m, uint32_t from, uint32_t to);

struct medium_counts {
	uint64_t frames, collisions, empty, given_up;
	uint64_t epochs; /* CSMA-DCR: number of resolutions */
	/* largest number of collisions and empty slots of a resolution */
	uint64_t epoch_slots_most;
	uint64_t rotations; /* FDDI: rotations of the token, counted at station 1 */
	nsec_t rotation_most, rotation_sum;
};

const struct medium_counts *medium_counts(const struct medium *m);

#endif
