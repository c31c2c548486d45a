/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that daemons share by mapping it: segments of ranks, and files of their own. A killed
 * daemon writes nothing more there, although its memory is freed in this process. The linker
 * replaces mmap() and munmap() by these calls.
 */
#ifndef SIM_DISK_MAPCALLS_H
#define SIM_DISK_MAPCALLS_H

#include <stdbool.h>

struct loop;

/*
 * on: notes each mapping that is made from now on, and keeps a descriptor for it. Otherwise drops
 * all notes.
 */
void mapcalls_watch(bool on);

/*
 * Freezes the mappings of the daemon in that part of the loop. Its later writes change a private
 * copy.
 */
void mapcalls_kill(const struct loop *part);

#endif
