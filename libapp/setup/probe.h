/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of this program: found at set-up, reported when a thread passes them. */
#ifndef LIBAPP_SETUP_PROBE_H
#define LIBAPP_SETUP_PROBE_H

#include "libapp/hot/app_state.h"
#include "libapp/setup/probe_abi.h"

#pragma GCC visibility push(hidden)

/* By number; npar 0: no probe. */
struct probe_known {
	uint8_t npar;
	uint32_t floats; /* bit k: parameter k is a double */
};
extern struct probe_known probe_known[SEG_PROBES];

/*
 * In a child process, besides the bits of seg.h: the first probe that a thread passes sets up the
 * process.
 */
#define PROBE_COME (1u << 31)

/* Called by an active probe. Hot: the rules of hook.h. */
void probe_hit(unsigned number, unsigned word, const union omig_value *value);

/*
 * Reports collective call number `key` of function k, which began at these ticks and ends now. Its
 * thread is marked as in the call. Hot: the rules of hook.h.
 */
void probe_collective(unsigned k, uint64_t key, uint64_t begin);

/*
 * Searches all loaded modules for probes and writes the table of the segment. Maps the pages of
 * probe words over those of the modules. Takes the loader's lock. Called before the segment's magic
 * word is set.
 */
void probes_find(void);

/* Maps the same probes to another segment, in a child process. Takes no lock. */
void probes_renew(void);

/* Sets all probes to PROBE_COME. */
void probes_wake(void);

/* The page of module m; NULL beyond the last one. */
unsigned *probe_page(unsigned m);

#pragma GCC visibility pop

#endif
