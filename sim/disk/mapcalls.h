/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that daemons share by mapping it: segments of ranks, and files of their own. A daemon that
 * was killed writes nothing more there, though its memory is still freed here. The linker replaces
 * mmap() and munmap() by these calls.
 */
#ifndef SIM_DISK_MAPCALLS_H
#define SIM_DISK_MAPCALLS_H

#include <stdbool.h>

struct loop;

/*
 * on: notes each mapping made from now on, at the cost of a descriptor each. Else drops all notes.
 */
void mapcalls_watch(bool on);

/* Freezes the mappings of the daemon of that part. Its later writes change a private copy. */
void mapcalls_kill(const struct loop *part);

#endif
