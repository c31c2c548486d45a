/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk in memory that forgets unsynced data. Any of its operations may fail. Any may be the last
 * one before a crash of the process, or of the machine.
 */
#ifndef TESTS_UNIT_COMMON_STORE_MEMDISK_H
#define TESTS_UNIT_COMMON_STORE_MEMDISK_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/store/disk.h"

#define MEMDISK_FILES 64
#define MEMDISK_FDS 16

/* The target of a name. */
struct memdisk_file {
	struct buf now, sure; /* as the system has it; as the disk has it */
	bool is_forgetful; /* a sync failed: the next one succeeds without effect */
};

struct memdisk_name {
	char name[80]; /* "" = none */
	int file;
};

enum memdisk_fault { MEMDISK_NONE, MEMDISK_FAIL, MEMDISK_SHORT, MEMDISK_CRASH };

struct memdisk {
	struct disk disk;
	struct rng rng;
	struct memdisk_file file[MEMDISK_FILES];
	int nfile;
	struct memdisk_name now[MEMDISK_FILES],
		sure[MEMDISK_FILES]; /* of names too there are two */
	int fd[MEMDISK_FDS]; /* of files; -1 = closed */
	uint64_t ops; /* that were done */
	uint64_t fault_at; /* of this one, and `times` - 1 more; 0: never */
	uint64_t times;
	enum memdisk_fault fault;
	int error; /* as it fails with */
	uint64_t room; /* bytes of all files; UINT64_MAX = no end */
	bool is_dead; /* all fails */
};

void memdisk_init(struct memdisk *s, uint64_t seed);
void memdisk_done(struct memdisk *s);

/*
 * The process has crashed. is_power: the machine too, and any part of the unsynced data is on the
 * disk.
 */
void memdisk_crash(struct memdisk *s, bool is_power);

/* The file of that name as it is now; NULL. */
struct buf *memdisk_find(struct memdisk *s, const char *name);

#endif
