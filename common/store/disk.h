/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk, behind a table of operations. disk_system is the real disk. In a simulated world each
 * host has its own disk, which may be full, fail or lose power. In tests each operation may fail,
 * be cut short, or be the last one before a crash.
 *
 * A name is a path, or, on a disk from disk_enter(), a name in that folder. Operations that fail
 * return -errno, and may block. They may be called from any thread.
 */
#ifndef COMMON_STORE_DISK_H
#define COMMON_STORE_DISK_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disk {
	void *arg;
	/* makes a new file, 0600, and returns a descriptor for writing */
	int (*create)(void *arg, const char *name);
	/*
	 * Opens a private regular file for reading and writing. Fails with EPERM if it is not
	 * private or not regular.
	 */
	int (*open)(void *arg, const char *name);
	/* returns 0 at the end */
	ssize_t (*read_at)(void *arg, int fd, void *p, size_t n, uint64_t at);
	ssize_t (*write_at)(void *arg, int fd, const void *p, size_t n, uint64_t at);
	int64_t (*size)(void *arg, int fd);
	int (*cut)(void *arg, int fd, uint64_t n);
	int (*sync)(void *arg, int fd); /* syncs contents and size */
	void (*close)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to);
	int (*remove)(void *arg, const char *name); /* removes a file, or an empty folder */
	/* Syncs create, rename and remove in the folder of this name. */
	int (*sync_names)(void *arg, const char *name);
	int (*list)(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		    void *each_arg);
	/*
	 * Maps the file, which gets n bytes of allocated room. The mapping is shared, so that its
	 * contents outlive this process.
	 */
	int (*map)(void *arg, int fd, size_t n, void **out);
	/* Makes a private folder, with its parents, like file_private_dir(). */
	int (*make_folder)(void *arg, const char *path, struct err *e);
	int (*enter)(void *arg, const char *path, struct disk *out, struct err *e);
	void (*leave)(void *arg); /* NULL: the disk is not from disk_enter() */
};

extern const struct disk disk_system;

/* Returns disk_system for NULL. */
const struct disk *disk_or_system(const struct disk *d);

/*
 * Enters the folder `path`, which is made if it is missing: 0700, of this user, no link, and for
 * this process only. Names of *out are in the folder; "." is the folder itself. Fails with
 * ERR_EXISTS if another process has it, and with ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int disk_enter(const struct disk *on, const char *path, struct disk *out, struct err *e);

/* Has no effect on a disk that was not entered, or was left already. */
void disk_leave(struct disk *d);

/*
 * Converts the result of an operation on that file to an error: ERR_NOTFOUND, ERR_DENIED, ERR_SYS.
 */
int disk_fail(const char *name, int rc, struct err *e);

/* Writes all n bytes. Returns 0 or -errno; -ENOSPC if a write makes no progress. */
int disk_write_all(const struct disk *d, int fd, const void *p, size_t n, uint64_t at);

#endif
