/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by simdisk.c and simdisk_ops.c: permitted effects of operations, and unsynced changes. */
#ifndef SIM_DISK_SIMDISK_INTERNAL_H
#define SIM_DISK_SIMDISK_INTERNAL_H

#include "sim/disk/simdisk.h"

#include <stddef.h>

struct stat;

/* The disk itself, with paths as names, or an opened folder of it. */
struct place {
	struct simdisk *of;
	char *folder; /* owned; NULL: the disk itself */
	int lock;
};

/* The result of simdisk_disk(), filled by simdisk_ops.c. */
struct simdisk_face {
	struct place whole;
	struct disk ops;
};
struct simdisk_face *simdisk_face(const struct simdisk *d);

/* True if the call fails, with errno. */
bool simdisk_fails(struct simdisk *d);
bool simdisk_refuses_change(struct simdisk *d);

/*
 * Returns how many of n bytes are written at `at` into a file of `size`. *is_reported: the call
 * returns that number. Otherwise it fails, and sets errno.
 */
size_t simdisk_admits(struct simdisk *d, uint64_t at, uint64_t size, size_t n, bool *is_reported);

/* --- called before an operation */

/* Called before a name refers to another file, or is removed. */
void simdisk_will_move(struct simdisk *d, const char *path);
/* Called in the same cases, if the file loses its last name. */
void simdisk_will_end(struct simdisk *d, const char *path);
void simdisk_will_write(struct simdisk *d, const struct stat *st);
void simdisk_will_cut(struct simdisk *d, const struct stat *st, uint64_t size);
/* Called before a mapping, through which the file may change without further calls. */
void simdisk_will_map(struct simdisk *d, const struct stat *st);

/* --- called after an operation */

void simdisk_synced(struct simdisk *d, const struct stat *st, bool is_ok);
void simdisk_is_gone(struct simdisk *d, const char *path);
/* all names in the folder; NULL: in all folders */
void simdisk_names_synced(struct simdisk *d, const char *folder);

#endif
