/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A board: a file that all processes of one command map, and write what they do into. It outlives
 * each of them: a process may end in any way, and what it wrote is there. `omig run` makes it and
 * reads it.
 *
 * Writers are any threads of any processes, also in signal handlers and behind vfork(). A writer
 * claims a record, fills it, and marks it as whole. None waits: without room, a record is dropped
 * and counted. The reader is one process. It skips a record whose writer was killed, and counts it.
 *
 * The other part is a table of streams, such as pipes: how many bytes were written and read so far.
 * It is a cache by inode. A new entry replaces an old one. It is in doubt if the old one was in
 * use, or if its key may have been replaced before. Then the numbers of bytes are uncertain. So
 * are those of calls that write, or read, at the same time as others.
 */
#ifndef COMMON_BOARD_BOARD_H
#define COMMON_BOARD_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_MAGIC 0x64726f62u
#define BOARD_VERSION 2
/* records of 88 bytes; some 20 ms of a pipe at its highest rate */
#define BOARD_RECORDS (1u << 16)
#define BOARD_WAYS 8
#define BOARD_SETS 2048u /* of BOARD_WAYS streams each */
#define BOARD_LABEL_BYTES 16 /* as the kernel's names of programs */

enum board_kind {
	BOARD_NONE,
	BOARD_SPAWN, /* process `child` begins */
	BOARD_EXEC, /* the process has begun with a program */
	BOARD_EXIT,
	BOARD_REAP, /* the end of process `child` is known; the thread has waited since `began` */
	BOARD_WRITE, /* the bytes up to `end` of stream `id` leave */
	BOARD_READ, /* they are in; the thread has waited since `began` */
	BOARD_KINDS
};

enum { BOARD_UNCERTAIN = 1, BOARD_UNSENT = 2 }; /* unsent: nothing has written the bytes */

struct board_record {
	uint64_t turn; /* release: 2 * place + 1 when it is whole; else an earlier one, or 0 */
	uint64_t check; /* of the rest: a late writer may have spoilt it */
	uint64_t ns, began; /* monotonic */
	uint64_t id, end;
	int32_t pid, tid, child;
	uint16_t kind, flags;
	char label[BOARD_LABEL_BYTES]; /* name of the program, ends with a 0 */
	uint64_t rest;
};

/* One direction of a pipe, FIFO or socket. */
struct board_stream {
	uint64_t key; /* 0: free */
	uint64_t written, read; /* bytes */
	uint32_t writers, readers; /* calls under way */
	uint32_t doubt; /* 1: the numbers are uncertain */
	uint32_t rest;
	uint64_t peer; /* of a socket, for libio/sockets.c; 0: not known */
};

struct board {
	uint32_t magic, version;
	uint32_t on; /* 0: nothing is recorded */
	uint32_t filters; /* board_filters() of `omig run` */
	uint64_t lost; /* records without room */
	uint64_t salt; /* makes ids of streams differ between two boards */
	uint64_t out __attribute__((aligned(64))); /* the reader's place */
	uint64_t in __attribute__((aligned(64))); /* the writers' */
	uint64_t replaced[BOARD_SETS]; /* the largest key that was replaced there */
	struct board_stream stream[BOARD_SETS][BOARD_WAYS];
	struct board_record record[BOARD_RECORDS];
};

/* Checks a mapping of that many bytes. */
static inline bool board_is_valid(const struct board *b, uint64_t bytes)
{
	return bytes == sizeof(*b) && b->magic == BOARD_MAGIC && b->version == BOARD_VERSION;
}

/*
 * The filters of system calls (seccomp) of this process, which its descendants inherit; before
 * Linux 5.9: 2 if there is any. UINT32_MAX: not known. A process with another number than that of
 * the board is left alone: it may end at a call that its filter does not expect. Opens a file.
 */
uint32_t board_filters(void);

/* b is full of zeros. */
void board_init(struct board *b, uint64_t salt);

/* Sets turn and check. Returns false if there was no room. Signal-safe, wait-free. */
bool board_put(struct board *b, const struct board_record *r);

/*
 * Returns 1: *out is the next record; 0: there is none so far; -1: one is claimed, and not whole,
 * or it was invalid: then it is skipped already, and counted as lost. Any program may write *out:
 * only its checksum, kind and end of label are checked.
 */
int board_get(struct board *b, struct board_record *out);

/* Skips a claimed record, whose writer was probably killed, and counts it as lost. */
void board_skip(struct board *b);

/* key: not 0. Returns its entry; an older one may be replaced. NULL: others are faster.
 * Signal-safe, wait-free. */
struct board_stream *board_stream(struct board *b, uint64_t key);

#endif
