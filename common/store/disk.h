/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk behind a table of operations, as loop, channel and host are behind theirs. disk_system
 * is the real one. In a simulated world each host has its own, which may be full, fail or lose
 * power. In tests each operation may fail, be cut short, or be the last one before a crash.
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
	int (*create)(void *arg, const char *name); /* a new file, 0600, to write: a descriptor */
	/*
	 * Opens a private regular file to read and write. -EPERM: it is not private or not regular.
	 */
	int (*open)(void *arg, const char *name);
	ssize_t (*read_at)(void *arg, int fd, void *p, size_t n, uint64_t at); /* 0: the end */
	ssize_t (*write_at)(void *arg, int fd, const void *p, size_t n, uint64_t at);
	int64_t (*size)(void *arg, int fd);
	int (*cut)(void *arg, int fd, uint64_t n);
	int (*sync)(void *arg, int fd); /* contents and size */
	void (*close)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to);
	int (*remove)(void *arg, const char *name); /* a file, or an empty folder */
	/* Syncs create, rename and remove in the folder of this name. */
	int (*sync_names)(void *arg, const char *name);
	int (*list)(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		    void *each_arg);
	/*
	 * Maps the file, which gets n bytes with allocated room. The mapping is shared, so its
	 * contents outlive this process.
	 */
	int (*map)(void *arg, int fd, size_t n, void **out);
	/* Makes a private folder, with its parents, as file_private_dir() does. */
	int (*make_folder)(void *arg, const char *path, struct err *e);
	int (*enter)(void *arg, const char *path, struct disk *out, struct err *e);
	void (*leave)(void *arg); /* NULL: this one was not entered */
};

extern const struct disk disk_system;

/* NULL means disk_system. */
const struct disk *disk_or_system(const struct disk *d);

/*
 * Enters the folder `path`, made if it is missing: 0700, ours, no link, and for this process only.
 * Names of *out are in it; "." is itself. ERR_EXISTS: another process has it. ERR_DENIED, ERR_SYS,
 * ERR_NOMEM.
 */
int disk_enter(const struct disk *on, const char *path, struct disk *out, struct err *e);

/* No effect on a disk that was not entered, or was left. */
void disk_leave(struct disk *d);

/*
 * Converts the result of an operation on that file to an error: ERR_NOTFOUND, ERR_DENIED, ERR_SYS.
 */
int disk_fail(const char *name, int rc, struct err *e);

/* Writes all n bytes. Returns 0 or -errno; -ENOSPC also if a write makes no progress. */
int disk_write_all(const struct disk *d, int fd, const void *p, size_t n, uint64_t at);

#endif
