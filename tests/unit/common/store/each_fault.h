/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of what a room keeps, on a disk where one operation fails, each in turn. It fails, does
 * half, or is the last one before a crash of the process or of the machine. The next daemon reads
 * the old state or the new one. It reads the new one where the change was reported as done.
 */
#ifndef TESTS_UNIT_COMMON_STORE_EACH_FAULT_H
#define TESTS_UNIT_COMMON_STORE_EACH_FAULT_H

#include "tests/unit/common/store/memdisk.h"

#include <stdbool.h>

enum kept_state { KEPT_OLD, KEPT_NEW, KEPT_OTHER };

struct kept_case {
	const char *name;
	void (*put_old)(const struct disk *d); /* on an empty disk, which works */
	int (*change)(
		const struct disk *d); /* as a daemon that starts, changes, and dies: 0: done */
	enum kept_state (*read)(
		const struct disk *d); /* as the next daemon, on a disk that works */
	bool ends_with_boot; /* a machine that crashes may take all of it */
};

void each_fault(const struct kept_case *c);

/* Writes a file of that kind: "names 1", say. disk: NULL: the system's. */
void put_kept(const struct disk *disk, const char *path, const char *kind, const char *text);

#endif
