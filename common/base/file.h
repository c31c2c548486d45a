/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in directories that other users may have prepared: private directories, bounded reads,
 * atomic writes, and the places of state and runtime files. These calls do file I/O and may block.
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
 * Makes path and its missing parents (0700). Checks that path is a real directory (no symbolic
 * link), belongs to this user, and is closed to others. A directory that is ours but open to others
 * is refused, not changed. New directories are synced: otherwise synced files in them could be
 * lost. ERR_DENIED, ERR_SYS.
 */
int file_private_dir(const char *path, struct err *e);

/* Checks like file_private_dir(), but makes nothing: a missing directory is not an error. */
int file_private_dir_look(const char *path, struct err *e);

enum file_flags {
	/* belongs to this user, without rights for group and others: keys, tokens */
	FILE_SECRET = 1,
	/* belongs to this user or root, not writable by group and others: configuration */
	FILE_OWNED = 2,
};

/*
 * Appends the whole regular file to out. Follows no link in the last part of path, and never blocks
 * on a FIFO. Fails with ERR_NOTFOUND, ERR_LIMIT (larger than max), ERR_DENIED (flags; not a regular
 * file), ERR_SYS, ERR_NOMEM. On failure out is unchanged.
 */
int file_read(const char *path, size_t max, unsigned flags, struct buf *out, struct err *e);

/*
 * For /proc and /sys, where files report no size: reads like file_read() without the checks, from
 * an open directory (AT_FDCWD for none), and follows links.
 */
int file_read_at(int dir, const char *path, size_t max, struct buf *out, struct err *e);

/*
 * Writes all or nothing: a temporary file beside it, 0600, which is synced and renamed; then the
 * directory is synced. Fails with ERR_SYS.
 */
int file_write_atomic(const char *path, const void *p, size_t n, struct err *e);

/*
 * Syncs the directory entry of this name. Fails with ERR_SYS and errno; EACCES and EINVAL mean that
 * the directory can never be synced.
 */
int file_sync_name(const char *path);

/*
 * Checks that file_write_atomic() could write there now, for a program that works long before it
 * writes. Leaves no file. Fails with ERR_SYS.
 */
int file_check_writable(const char *path, struct err *e);

/* Returns 0 also if the file does not exist. */
int file_remove(const char *path, struct err *e);

/*
 * Locks the file by flock until *out is closed. An exclusive lock makes the file if it is missing
 * (0600); a shared one needs the file. Fails with ERR_AGAIN if another process holds the lock, and
 * ERR_UNSUPPORTED if the file system has no locks. Also fails with ERR_NOTFOUND, ERR_DENIED,
 * ERR_SYS.
 */
int file_lock(const char *path, bool is_shared, int *out, struct err *e);

/* Writes "a/b" to out (size bytes). Fails with ERR_LIMIT if it does not fit. */
int file_join(char *out, size_t size, const char *a, const char *b, struct err *e);

#define FILE_PATH_BYTES 4096

/*
 * Writes the path of that name in the folder of the running program. out has FILE_PATH_BYTES. Fails
 * with ERR_SYS, ERR_LIMIT.
 */
int file_beside_program(char *out, const char *name, struct err *e);

/*
 * Write the directory of the state, or of sockets, which file_private_dir() makes and checks:
 *   state:   $OMIG_STATE_DIR, $XDG_STATE_HOME/omig, $HOME/.local/state/omig
 *   runtime: $OMIG_RUNTIME_DIR, $XDG_RUNTIME_DIR/omig, /tmp/omig-UID
 * Both fall back to /tmp/omig-UID. If another user has that name, the runtime directory is "run"
 * below the state directory. Fails with ERR_DENIED for a directory of this user that is open to
 * others. out has FILE_PATH_BYTES.
 */
int file_state_dir(char *out, struct err *e);
int file_runtime_dir(char *out, struct err *e);

/*
 * Fails with ERR_DENIED, and a text, if another user has the name of the runtime directory. Makes
 * nothing.
 */
int file_runtime_dir_taken(struct err *e);

/* Find a directory like the functions above, but make none. */
int file_state_dir_find(char *out, struct err *e);
int file_runtime_dir_find(char *out, struct err *e);

#endif
