/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth in virtual time: a world of real daemons without faults. Each daemon needs a stated time
 * for each frame and byte that it handles. It does one thing at a time. Measured by hosts and
 * levels of sms:
 *
 * - what reaches the top,
 * - how long answers take,
 * - what the top and the largest sm have allocated.
 */
#ifndef SIM_STUDIES_GROWTH_H
#define SIM_STUDIES_GROWTH_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From docs/measured/growth.md, with TLS and the kernel's part on that machine. An sm of 256 hosts
 * needs 39 us of processor for each host of a request: one frame down and one frame up. Idle, it
 * needs 15 us for each heartbeat (2 % at 2,000 hosts). mainsm needs 0.8 ms more to pass on 9 KB
 * more of replies.
 */
#define GROWTH_FRAME_NS 18000
#define GROWTH_BYTE_NS 45.0
/* of each link, in one direction: within a computing centre */
#define GROWTH_DELAY_NS (100 * INT64_C(1000))

enum growth_figure {
	GROWTH_IDLE_FRAMES,
	GROWTH_IDLE_BYTES,
	GROWTH_IDLE_SM_FRAMES,
	GROWTH_REQUEST_MS,
	GROWTH_REQUEST_FRAMES,
	GROWTH_REQUEST_BYTES,
	GROWTH_READ_MS,
	GROWTH_MEASURED_FRAMES,
	GROWTH_MEASURED_BYTES,
	GROWTH_TOP_MIB,
	GROWTH_SM_MIB,
	GROWTH_NFIGURES
};

struct growth_conf {
	uint64_t seed;
	unsigned hosts, levels;
	/* called before each long stage; may be NULL */
	void (*on_stage)(const struct growth_conf *c, const char *what);
};

struct growth_point {
	unsigned hosts, levels, sites, below, sms;
	double v[GROWTH_NFIGURES];
};

struct growth_name {
	const char *name, *unit, *words;
	const char *last; /* of the name of a line: the unit as a word */
};

extern const struct growth_name growth_name[GROWTH_NFIGURES];

/* ERR_INTERNAL: an invariant is violated, in *e. */
int growth_measure(const struct growth_conf *c, struct growth_point *out, struct err *e);

/* The load of mainsm while each process of the hosts passes a probe `rate` times a second. */
struct growth_front {
	unsigned hosts, levels; /* as of the world */
	unsigned rate;
	bool is_central; /* all events to the top, and evaluated there */
	double frames, bytes; /* a second, in and out of mainsm */
	double busy; /* share of mainsm's time; above 1: mainsm is overloaded */
	double events; /* a second that the measurement has counted */
};

/* In: rate, is_central. */
int growth_measure_front(const struct growth_conf *c, struct growth_front *f, struct err *e);

/*
 * The speed of such a world on this machine, once all daemons are connected. Each ten seconds there
 * is a request to all hosts.
 */
struct growth_speed {
	double speedup; /* virtual time by processor time */
	double mib; /* peak memory of the program */
};

int growth_measure_speed(const struct growth_conf *c, nsec_t time, struct growth_speed *out,
			 struct err *e);

#endif
