/* SPDX-License-Identifier: Apache-2.0 */
/* The host as Linux shows it in /proc, /sys and by pidfds. */
#ifndef LM_HOST_HOST_LINUX_H
#define LM_HOST_HOST_LINUX_H

#include "lm/host/host.h"

struct loop;

/*
 * root: the folder of proc and sys, "/" on a running system, a folder of recorded files in a test.
 * loop may be NULL if nothing is to be watched. -ERR_SYS: root cannot be opened or has no proc.
 */
int host_linux_open(const char *root, struct loop *loop, struct host **out, struct err *e);

/* For tests: sets the units of the recorded machine. */
void host_linux_set_units(struct host *h, int64_t page_size, int64_t ticks_per_s);

/* For tests: how often a table of mounts was read. */
uint64_t host_linux_mount_reads(const struct host *h);

#endif
