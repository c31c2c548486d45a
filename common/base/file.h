/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in directories that others may have prepared: private directories, bounded reads, atomic
 * writes, and the location of state and runtime files. These calls do file I/O and so may block.
 */
#ifndef COMMON_BASE_FILE_H
#define COMMON_BASE_FILE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Modes of the monitor's own files, independent of the user's umask: state, connection strings,
 * certificates, tokens, locks, logs, spools. Daemons set their umask to 077 (process_harden()), and
 * the calls below restore owner rights that a stricter umask removed. A file that the user names as
 * an output (tools/term/outfile.h) has 0666 less the umask.
 */
#define FILE_MODE 0600
#define FILE_DIR_MODE 0700

/*
 * Makes path and its missing parents (0700) and checks the last one: a real directory (no symbolic
 * link), ours, closed to others. A directory that is ours but open to others is refused, not
 * changed. New directories are synced: otherwise synced files in them could be lost. ERR_DENIED,
 * ERR_SYS.
 */
int file_private_dir(const char *path, struct err *e);

/* As file_private_dir(), but makes nothing: a missing directory is no error. */
int file_private_dir_look(const char *path, struct err *e);

enum file_flags {
	FILE_SECRET = 1, /* ours, and no right for group and others: keys, tokens */
	FILE_OWNED = 2, /* ours or root's, not writable by group and others: configuration */
};

/*
 * Appends the whole regular file to out. Follows no link in the last part, never blocks on a FIFO.
 * ERR_NOTFOUND, ERR_LIMIT (larger than max), ERR_DENIED (flags; not a regular file), ERR_SYS,
 * ERR_NOMEM. On failure out is unchanged.
 */
int file_read(const char *path, size_t max, unsigned flags, struct buf *out, struct err *e);

/*
 * For /proc and /sys, where files report no size: as file_read without the checks, from an open
 * directory (AT_FDCWD for none), following links.
 */
int file_read_at(int dir, const char *path, size_t max, struct buf *out, struct err *e);

/* All or nothing: a temporary file beside it, 0600, synced, renamed, directory synced. ERR_SYS. */
int file_write_atomic(const char *path, const void *p, size_t n, struct err *e);

/* Syncs the directory entry of this name. -ERR_SYS with errno; EACCES, EINVAL: that directory
 * cannot be synced. */
int file_sync_name(const char *path);

/*
 * Checks that file_write_atomic() could write there now: for a program that works long before it
 * writes. No file is left. ERR_SYS.
 */
int file_check_writable(const char *path, struct err *e);

/* Returns 0 also if the file did not exist. */
int file_remove(const char *path, struct err *e);

/*
 * Locks the file by flock until *out is closed. An exclusive lock makes the file if it is missing
 * (0600); a shared one needs the file. ERR_AGAIN: another process holds it. ERR_UNSUPPORTED: its
 * file system has no locks. ERR_NOTFOUND, ERR_DENIED, ERR_SYS.
 */
int file_lock(const char *path, bool is_shared, int *out, struct err *e);

/* Writes "a/b" to out (size bytes). ERR_LIMIT if it does not fit. */
int file_join(char *out, size_t size, const char *a, const char *b, struct err *e);

#define FILE_PATH_BYTES 4096

/*
 * Writes the path of that name in the folder of the running program. out has FILE_PATH_BYTES.
 * ERR_SYS, ERR_LIMIT.
 */
int file_beside_program(char *out, const char *name, struct err *e);

/*
 * Write the directory of the state, or of sockets, which file_private_dir() makes and checks:
 *   state:   $OMIG_STATE_DIR, $XDG_STATE_HOME/omig, $HOME/.local/state/omig
 *   runtime: $OMIG_RUNTIME_DIR, $XDG_RUNTIME_DIR/omig, /tmp/omig-UID
 * Both fall back to /tmp/omig-UID. Where another user has that name, the runtime directory is "run"
 * below the state directory. One that is ours and open to others is ERR_DENIED.
 * out has FILE_PATH_BYTES.
 */
int file_state_dir(char *out, struct err *e);
int file_runtime_dir(char *out, struct err *e);

/*
 * Returns ERR_DENIED with a text if another user has taken the name of the runtime directory; else
 * 0. Makes nothing.
 */
int file_runtime_dir_taken(struct err *e);

/* As the functions above, but makes no directory. */
int file_state_dir_find(char *out, struct err *e);
int file_runtime_dir_find(char *out, struct err *e);

#endif
