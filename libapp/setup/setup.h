/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of set-up, in MPI_Init or before. None of them may fail for the program, or block. None
 * may leave anything behind but one file descriptor out of the program's way.
 */
#ifndef LIBAPP_SETUP_SETUP_H
#define LIBAPP_SETUP_SETUP_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/*
 * All of set-up and registration, once, after MPI_Init has succeeded. resolve_all finds the real
 * functions of all wrappers. Never fails for the caller.
 */
void setup_run(void (*resolve_all)(void));

/*
 * The same, once, for a process with probes or events that has no MPI, so far; nothing where an MPI
 * library is loaded or no monitor is named. In a child process: its own segment, without a lock, an
 * allocation or a descriptor that other threads see. Signal-safe there. errno stays.
 */
void setup_without_mpi(void);

/* MPI_Finalize was entered. */
void setup_finalize(void);

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

/* The environment says that this process is not to be watched, or the C library is not glibc. */
bool setup_is_disabled(void);

/* At the start of the process, when descriptor 2 is its stderr. */
void setup_note_stderr(void);

/*
 * One line on stderr for the user: this program is not watched, and why. Nothing is said where
 * stderr would wait, has no reader, or is another file than at the start.
 */
void setup_warn(const char *why);

/* A monitor is named in the environment, and nothing says that this process is not to be
 * watched. */
bool setup_is_named(void);

/* Makes, seals and maps the memory and lays the hook page over hook_word. False: unwatched. */
bool segment_make(const char *caid);

/*
 * Lays the segment's words of hooks and probes over ours, or zeros: then all are off whatever the
 * lm wants.
 */
void segment_hooks(bool on);

/* In a child after fork: private zero pages in place of everything shared. */
void segment_detach(void);

/* The program may have closed the segment's descriptor, or put another file in its place. */
bool segment_is_held(void);

/* rank, size, job, program, library ... into the header. Without MPI there is no rank, whatever the
 * environment says. */
void identity_fill(struct seg_own *own, bool has_mpi);

/* Files with code that are loaded, into the segment, once. */
void modules_note(void);

/* Hands the memfd to this host's lm. False: there is none that listens, errno says how. */
bool register_with_lm(const char *runtime, const char *host, const char *caid);

/* The lm's socket, listening, for an lm that does not run yet: the caller holds its lock. -1: there
 * is none. */
int register_listen(const char *runtime, const char *host, const char *caid);

enum launched {
	LAUNCH_NONE, /* none will come */
	LAUNCH_HELD, /* its lock is held: by one that runs, that starts or that ends */
	LAUNCH_STARTED,
};

/* Starts this host's lm, with its socket, unless its lock is held. Does not wait for it. */
enum launched launch_lm(const char *runtime, const char *host, const char *caid);

/* Runs fn in a thread with a copy of all descriptors; the caller waits. What it opens, others do
 * not see. */
void launch_apart(int (*fn)(void *arg));

/* Closes what is the lm's alone: when it has it, and in a child after fork. */
void launch_detach(void);

#pragma GCC visibility pop

#endif
