/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth in virtual time, in a world of real daemons without faults. Each daemon needs a stated
 * time for each frame and byte, and handles one frame at a time. For numbers of hosts and levels of
 * sms it measures:
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
 * needs 15 us for each heartbeat (2 % at 2,000 hosts). mainsm needs 0.8 ms for each further 9 KB of
 * replies that it forwards.
 */
#define GROWTH_FRAME_NS 18000
#define GROWTH_BYTE_NS 45.0
/* delay of each link in one direction, as within a computing centre */
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
	const char *last; /* last part of a line's name: the unit as a word */
};

extern const struct growth_name growth_name[GROWTH_NFIGURES];

/* Fails with ERR_INTERNAL if an invariant is violated; e names it. */
int growth_measure(const struct growth_conf *c, struct growth_point *out, struct err *e);

/* The load of mainsm while each process of the hosts passes a probe `rate` times a second. */
struct growth_front {
	unsigned hosts, levels; /* as in the world's configuration */
	unsigned rate;
	bool is_central; /* mainsm receives all events and evaluates them */
	double frames, bytes; /* per second, sent and received by mainsm */
	double busy; /* share of mainsm's time; above 1 mainsm is overloaded */
	double events; /* events per second that the measurement has counted */
};

/* Inputs in *f: rate, is_central. */
int growth_measure_front(const struct growth_conf *c, struct growth_front *f, struct err *e);

/*
 * The speed of such a world on this machine, once all daemons are connected. Every ten seconds a
 * tool sends a request to all hosts.
 */
struct growth_speed {
	double speedup; /* virtual time divided by processor time */
	double mib; /* largest memory of the program */
};

int growth_measure_speed(const struct growth_conf *c, nsec_t time, struct growth_speed *out,
			 struct err *e);

#endif
