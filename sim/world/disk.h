/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that stands for all disks of a simulated world: in memory where there is such a file
 * system. */
#ifndef SIM_WORLD_DISK_H
#define SIM_WORLD_DISK_H

#include "common/base/err.h"

#define DISK_PATH_BYTES 40

/* A new one. ERR_SYS. */
int disk_make(char out[DISK_PATH_BYTES], struct err *e);

/* Whatever the simulated disks do: it "was removed", or "is full". NULL: neither. */
const char *disk_failure(const char *path);

/* With all that is in it. */
void disk_remove(const char *path);

#endif
