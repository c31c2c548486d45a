/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of set-up, in MPI_Init or before. None may make the program fail, or block. None may
 * leave anything behind except one file descriptor that the program does not use.
 */
#ifndef LIBAPP_SETUP_SETUP_H
#define LIBAPP_SETUP_SETUP_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/*
 * Runs set-up and registration, once, after MPI_Init has succeeded. resolve_all finds the real
 * functions of all wrappers. Never fails for the caller.
 */
void setup_run(void (*resolve_all)(void));

/*
 * The same for a program that was entered (common/gate) after MPI_Init; from the second time on it
 * only registers. Returns false if the process is not watched then.
 */
bool setup_entered(void (*resolve_all)(void));

/*
 * As setup_run(), once, for a process with probes or events but without MPI so far. Does nothing if
 * an MPI library is loaded or no monitor is named. In a child process: makes its own segment,
 * without a lock, an allocation or a descriptor that other threads see. Signal-safe there.
 * Preserves errno.
 */
void setup_without_mpi(void);

/* Called when MPI_Finalize is entered. */
void setup_finalize(void);

/* Returns the variable; NULL if it is unset or empty, or the program runs with raised rights. */
const char *setup_env(const char *name);

/* Prints one line on stderr, if OMIG_DEBUG is set. The text of errno follows if code is not 0. */
void setup_say(const char *what, int code);

/* True if the environment disables watching, or the C library is not glibc. */
bool setup_is_disabled(void);

/* Called at the start of the process: notes the file behind descriptor 2, for setup_warn(). */
void setup_note_stderr(void);

/*
 * One line on stderr for the user: this program is not watched, and why. Prints nothing if stderr
 * would block, has no reader, or is another file than at the start.
 */
void setup_warn(const char *why);

/* True if the environment names a monitor and does not disable watching. */
bool setup_is_named(void);

/* Creates, seals and maps the memory and maps the hook page over hook_word. False: unwatched. */
bool segment_make(const char *caid);

/*
 * Maps the segment's words of hooks and probes over ours, or zeros: then all are off, whatever the
 * lm writes.
 */
void segment_hooks(bool on);

/* In a child after fork: maps private zero pages in place of everything shared. */
void segment_detach(void);

/* False if the program has closed the segment's descriptor or replaced it by another file. */
bool segment_is_held(void);

/*
 * Fills rank, size, job, program, library and so on. Without MPI there is no rank, whatever the
 * environment contains.
 */
void identity_fill(struct seg_own *own, bool has_mpi);

/* Writes the loaded files with code to the segment, once. */
void modules_note(void);

/* Sends the memfd to the lm of this host. Returns false, with errno, if none listens. */
bool register_with_lm(const char *runtime, const char *host, const char *caid);

/*
 * Returns the lm's socket, listening, for an lm that does not run yet. The caller holds its lock.
 * Returns -1 on failure.
 */
int register_listen(const char *runtime, const char *host, const char *caid);

enum launched {
	LAUNCH_NONE, /* no lm will start */
	LAUNCH_HELD, /* the lock is held by an lm that runs, starts or ends */
	LAUNCH_STARTED,
};

/* Starts the lm of this host, with its socket, unless its lock is held. Does not wait for it. */
enum launched launch_lm(const char *runtime, const char *host, const char *caid);

/*
 * Runs fn in a thread with a copy of all descriptors, and waits for it. Other threads do not see
 * what fn opens.
 */
void launch_apart(int (*fn)(void *arg));

/* Closes the lm's descriptors: when the lm has them, and in a child after fork. */
void launch_detach(void);

#pragma GCC visibility pop

#endif
