/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What daemons share with others by mapping it: segments of ranks, and files of their own. Who was
 * killed writes nothing more there, though its memory is still tidied up here. Linked as
 * diskcalls.c is.
 */
#ifndef SIM_DISK_MAPCALLS_H
#define SIM_DISK_MAPCALLS_H

#include <stdbool.h>

struct loop;

/* What is mapped from now on, at the cost of a descriptor each; or none of it any more. */
void mapcalls_watch(bool on);

/* All that the daemon of that part has mapped is from now on as it is, whatever that daemon still
 * does. */
void mapcalls_kill(const struct loop *part);

#endif
