/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a program to the C library: reads and writes are counted by file system, and those of
 * pipes and processes are written on a board (common/board/board.h).
 *
 * The rules of this library: no lock, no allocation, no wait. errno is preserved. The program gets
 * the result of the real call, whatever happens here. The kernel says at each call what is behind
 * the descriptor. So nothing is remembered of descriptors, which may be closed, duplicated,
 * received or made in ways that nothing here sees.
 */
#ifndef LIBIO_IO_H
#define LIBIO_IO_H

#include "common/board/board.h"
#include "common/ring/segmount.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/*
 * NULL: off. Else the segment's table, or a state of mounts.c that is none: also while only
 * interactions are recorded.
 */
extern struct seg_mount *io_table;

/* NULL: no interactions are recorded. Else the board, until the process ends. */
extern struct board *io_board;

/* The price of a call while the library is off. */
static inline __attribute__((always_inline)) bool io_is_on(void)
{
	return __builtin_expect(__atomic_load_n(&io_table, __ATOMIC_RELAXED) != NULL, 0);
}

enum io_way {
	IO_IN = 1,
	IO_OUT = 2,
	IO_SILENT = 4, /* the kernel's accounting of the process leaves the call out */
};

/* A call on the descriptor has ended with the result n, and errno. */
void io_moved(int fd, enum io_way way, ssize_t n);

/* The program restricts its own system calls: none is made here from now on, in children neither.
 */
void io_restricted(void);

/* Begins to count, if the process runs with libomig, and a monitor is named. */
void io_begin(void);
/* In place of that: nothing is counted, in children neither. */
void io_count_nothing(void);

/*
 * Returns the address of that name in the C library, or NULL, with ENOSYS. Otherwise errno is
 * preserved. The program's dlerror() does not change.
 */
void *io_real(const char *name);

/* --- interactions. All of these preserve errno, and are signal-safe. */

/* Maps the board that the environment names, and sets io_board. Returns whether files are counted.
 */
bool io_board_open(void);

static inline __attribute__((always_inline)) struct board *io_board_now(void)
{
	struct board *b = __atomic_load_n(&io_board, __ATOMIC_ACQUIRE);

	return b && __atomic_load_n(&b->on, __ATOMIC_RELAXED) ? b : NULL;
}

/* The program's name goes into all records. */
void io_note_label(void);

/* Puts a record of this thread, with ns, pid, tid and label where they are 0. */
void io_note(struct board *b, struct board_record *r);

enum io_form {
	IO_BYTES, /* the board counts the bytes */
	IO_TCP, /* the kernel does */
	IO_CALLS, /* a terminal: the board counts calls that write */
};

/* A read or write of a stream. */
struct io_call {
	struct board *b;
	struct board_stream *s; /* NULL: none */
	uint64_t id, began;
	uint64_t echo; /* key of the stream to which the terminal echoes; 0: it does not */
	uint64_t place, echoed; /* of a terminal: the number of this call among those that write */
	enum io_way way;
	enum io_form form;
	bool is_alone;
};

/* Return the key of what c->way moves there, and set c->form; 0: it is not such a stream. */
uint64_t io_socket_key(struct io_call *c, int fd, uint64_t inode);
uint64_t io_terminal_key(struct io_call *c, int fd, unsigned major, unsigned minor);

/* The bytes of the connection that were written, or read, so far. False: the kernel is too old. */
bool io_tcp_place(int fd, bool is_out, uint64_t *end);

/* socketpair() has made these. */
void io_pair(const int fd[2]);
void io_paired(struct board *b, uint64_t one, uint64_t other);

void io_before(struct io_call *c, int fd, enum io_way way);
void io_after(const struct io_call *c, int fd, ssize_t n);

/* Looks up the functions that the calls of processes.c are passed to. Changes errno. */
void io_processes_look(void);

/* The same for those of polls.c. */
void io_polls_look(void);

/* When this thread began to wait for any of several descriptors; 0: it has recorded since. */
extern __thread uint64_t io_polled __attribute__((tls_model("initial-exec")));

/* From here on child processes are recorded. */
void io_processes_begin(void);

/* Records what the C library's streams (FILE) move. Returns false if that is not possible. */
bool io_stdio_begin(void);

#pragma GCC visibility pop

#endif
