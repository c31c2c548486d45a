/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk of a simulated host: a folder, and folders in it. It may be full, or fail now and then.
 * Data that was written and not synced may be lost or torn when the host is switched off.
 */
#ifndef SIM_DISK_SIMDISK_H
#define SIM_DISK_SIMDISK_H

#include "common/store/disk.h"

#include <stdbool.h>
#include <stdint.h>

enum simdisk_state {
	SIMDISK_WELL,
	SIMDISK_FULL, /* nothing grows: ENOSPC, or only a part is written */
	SIMDISK_FAILING, /* one call in a few fails with EIO, and what it did is unknown */
	SIMDISK_DEAD, /* the daemon was killed, and only frees its memory: nothing changes */
};

struct simdisk;
struct spooler_turns;

/* Makes the folder. seed: of what fails, and of what is lost. */
int simdisk_new(const char *folder, uint64_t seed, struct simdisk **out, struct err *e);

/* The folder stays. NULL is fine. */
void simdisk_free(struct simdisk *d);

/* What daemons of the host get as theirs. */
const struct disk *simdisk_disk(const struct simdisk *d);

/* A path in it; out has FILE_PATH_BYTES. */
void simdisk_path(const struct simdisk *d, const char *name, char *out);

void simdisk_set(struct simdisk *d, enum simdisk_state s);

/* True: the disk has never failed, and has all that was synced. */
bool simdisk_is_sure(const struct simdisk *d);

/* True: the disk was switched off at some time, and may have lost what was not synced. */
bool simdisk_has_lost_power(const struct simdisk *d);

/* How fast spools on it work. */
const struct spooler_turns *simdisk_turns(const struct simdisk *d);
enum simdisk_state simdisk_state(const struct simdisk *d);

/* The host is switched off: of what was not synced each file and each name is as it is, as it was,
 * or torn. */
void simdisk_cut_power(struct simdisk *d);

#endif
