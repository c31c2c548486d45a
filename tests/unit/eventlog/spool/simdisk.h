/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk in memory that forgets unsynced data. Any of its operations may fail. Any may be the last
 * one before a crash of the process, or of the machine.
 */
#ifndef TESTS_UNIT_EVENTLOG_SPOOL_SIMDISK_H
#define TESTS_UNIT_EVENTLOG_SPOOL_SIMDISK_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "eventlog/spool/disk.h"

#define SIM_FILES 64
#define SIM_FDS 16

/* The target of a name. */
struct sim_file {
	struct buf now, sure; /* as the system has it; as the disk has it */
	bool is_forgetful; /* a sync failed: the next one says yes and does nothing */
};

struct sim_name {
	char name[40]; /* "" = none */
	int file;
};

enum sim_fault { SIM_NONE, SIM_FAIL, SIM_SHORT, SIM_CRASH };

struct simdisk {
	struct disk disk;
	struct rng rng;
	struct sim_file file[SIM_FILES];
	int nfile;
	struct sim_name now[SIM_FILES], sure[SIM_FILES]; /* of names too there are two */
	int fd[SIM_FDS]; /* of files; -1 = closed */
	uint64_t ops; /* that were done */
	uint64_t fault_at; /* of this one, and `times` - 1 more; 0: never */
	uint64_t times;
	enum sim_fault fault;
	int error; /* as it fails with */
	uint64_t room; /* bytes of all files; UINT64_MAX = no end */
	bool is_dead; /* all fails */
};

void sim_init(struct simdisk *s, uint64_t seed);
void sim_done(struct simdisk *s);

/* The process is gone. is_power: the machine too, and of what was not sure any part is there. */
void sim_crash(struct simdisk *s, bool is_power);

/* The file of that name as it is now; NULL. */
struct buf *sim_find(struct simdisk *s, const char *name);

#endif
