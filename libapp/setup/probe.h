/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of this program: found at set-up, reported when they are met. */
#ifndef LIBAPP_SETUP_PROBE_H
#define LIBAPP_SETUP_PROBE_H

#include "libapp/hot/app_state.h"
#include "libapp/setup/probe_abi.h"

#pragma GCC visibility push(hidden)

/* By number; npar 0: there is none. */
struct probe_known {
	uint8_t npar;
	uint32_t floats; /* bit k: parameter k is a double */
};
extern struct probe_known probe_known[SEG_PROBES];

/* In a child process, beside those of seg.h: the first probe that is met brings it to life. */
#define PROBE_COME (1u << 31)

/* What an active probe calls. Hot: the law of hook.h. */
void probe_hit(unsigned number, unsigned word, const union omig_value *value);

/*
 * Looks through all loaded modules and writes the table of the segment. Lays the words' pages over
 * those of the modules. Takes the loader's lock. Before the segment's magic word.
 */
void probes_find(void);

/* Maps the same probes to another segment, in a child process. No lock. */
void probes_renew(void);

/* Each of them is PROBE_COME. */
void probes_wake(void);

/* The page of module m; NULL beyond the last one. */
unsigned *probe_page(unsigned m);

#pragma GCC visibility pop

#endif
