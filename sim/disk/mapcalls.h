/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What daemons share with others by mapping it: segments of ranks, and files of their own. A
 * daemon that was killed writes nothing more there, though its memory is still freed here. The
 * linker puts these calls in the place of mmap() and munmap().
 */
#ifndef SIM_DISK_MAPCALLS_H
#define SIM_DISK_MAPCALLS_H

#include <stdbool.h>

struct loop;

/* on: notes each mapping made from now on, at the cost of a descriptor each. Else forgets all. */
void mapcalls_watch(bool on);

/* What the daemon of that part has mapped stays as it is now. What that daemon still writes goes
 * into a private copy. */
void mapcalls_kill(const struct loop *part);

#endif
