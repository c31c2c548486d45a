/* SPDX-License-Identifier: Apache-2.0 */
/* The folder for all disks of a simulated world: in memory, if there is such a file system. */
#ifndef SIM_WORLD_DISK_H
#define SIM_WORLD_DISK_H

#include "common/base/err.h"

#define DISK_PATH_BYTES 40

/* Makes a new folder. Fails with ERR_SYS. */
int disk_make(char out[DISK_PATH_BYTES], struct err *e);

/*
 * Checks the real disk, so that its failure is not a simulated fault. Returns "was removed", "is
 * full", or NULL.
 */
const char *disk_failure(const char *path);

/* Removes the folder with its contents. */
void disk_remove(const char *path);

#endif
