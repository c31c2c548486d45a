/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few operations of a spool on its folder, in one table. So a test can let each of them fail,
 * write half, or be the last one before a crash. All names are in the one folder. What fails
 * returns -errno. These calls may block.
 */
#ifndef EVENTLOG_SPOOL_DISK_H
#define EVENTLOG_SPOOL_DISK_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disk {
	void *arg;
	int (*create)(void *arg, const char *name); /* a new file, 0600, to write: a descriptor */
	int (*open)(void *arg, const char *name); /* a regular file of ours, to read and cut */
	ssize_t (*read_at)(void *arg, int fd, void *p, size_t n, uint64_t at); /* 0: the end */
	ssize_t (*write_at)(void *arg, int fd, const void *p, size_t n, uint64_t at);
	int64_t (*size)(void *arg, int fd);
	int (*cut)(void *arg, int fd, uint64_t n);
	int (*sync)(void *arg, int fd); /* contents and size */
	void (*close)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to);
	int (*remove)(void *arg, const char *name);
	int (*sync_names)(void *arg); /* what create, rename and remove did */
	int (*list)(void *arg, void (*each)(void *arg, const char *name), void *each_arg);
};

/*
 * The folder `path`, made when it is not there: 0700, ours, no link, and for this process alone.
 * ERR_EXISTS: another one has it. ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int disk_open(const char *path, struct disk *out, struct err *e);
void disk_close(struct disk *d);

#endif
