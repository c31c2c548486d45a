/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of set-up, in MPI_Init: none of them may fail for the program,
 * block, or leave anything behind but one file descriptor out of its way.
 */
#ifndef LIBAPP_SETUP_H
#define LIBAPP_SETUP_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/*
 * The environment as its names say; NULL when unset, empty, or when the program runs with raised
 * rights.
 */
const char *setup_env(const char *name);

/*
 * One line on stderr, only when OMIG_DEBUG is set. what is followed by the words for errno when
 * code is not 0.
 */
void setup_say(const char *what, int code);

/* Makes, seals and maps the memory and lays the hook page over hook_word. False: unwatched. */
bool segment_make(const char *caid);

/*
 * Lays the segment's words of hooks and probes over ours, or zeros: then all are off whatever the lm wants.
 */
void segment_hooks(bool on);

/* In a child after fork: private zero pages in place of everything shared. */
void segment_detach(void);

/* rank, size, job, program, library ... into the header. */
void identity_fill(struct seg_own *own);

/* Hands the memfd to this host's lm. False: there is none that listens, errno says how. */
bool register_with_lm(const char *runtime, const char *host, const char *caid);

/* The lm's socket, listening, for an lm that does not run yet: the caller holds its lock. -1: there is none. */
int register_listen(const char *runtime, const char *host, const char *caid);

/* Starts this host's lm, with its socket, unless somebody holds its lock. Does not wait for it. False: none will come. */
bool launch_lm(const char *runtime, const char *host, const char *caid);

/* Closes what is the lm's alone: when it has it, and in a child after fork. */
void launch_detach(void);

#pragma GCC visibility pop

#endif
