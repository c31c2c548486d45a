/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk of a simulated host: a folder with folders. It may be full, or fail at random. Data that
 * was written and not synced may be lost or torn when the host is switched off.
 */
#ifndef SIM_DISK_SIMDISK_H
#define SIM_DISK_SIMDISK_H

#include "common/store/disk.h"

#include <stdbool.h>
#include <stdint.h>

enum simdisk_state {
	SIMDISK_WELL,
	SIMDISK_FULL, /* files cannot grow: ENOSPC, or a partial write */
	SIMDISK_FAILING, /* every third call fails with EIO, after an unknown part of its effect */
	SIMDISK_DEAD, /* the daemon was killed and only frees its memory: no call has an effect */
};

struct simdisk;
struct spooler_turns;

/* Makes the folder. seed: for failures and losses. */
int simdisk_new(const char *folder, uint64_t seed, struct simdisk **out, struct err *e);

/* The folder remains. NULL is accepted. */
void simdisk_free(struct simdisk *d);

/* Returns the disk for daemons of the host. */
const struct disk *simdisk_disk(const struct simdisk *d);

/* Writes the path of a name on the disk; out has FILE_PATH_BYTES. */
void simdisk_path(const struct simdisk *d, const char *name, char *out);

void simdisk_set(struct simdisk *d, enum simdisk_state s);

/* True if the disk has never failed nor lost power, so that it has everything that was synced. */
bool simdisk_is_sure(const struct simdisk *d);

/* True if the disk was switched off at some time, and may have lost data that was not synced. */
bool simdisk_has_lost_power(const struct simdisk *d);

/* Returns the times at which spools on the disk take their turns. */
const struct spooler_turns *simdisk_turns(const struct simdisk *d);
enum simdisk_state simdisk_state(const struct simdisk *d);

/*
 * Switches the host off: each file and name that was not synced has its new state, its old state,
 * or is torn.
 */
void simdisk_cut_power(struct simdisk *d);

#endif
