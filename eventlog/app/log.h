/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a process. Each thread writes records into buffers of its own. The holder of `lock`
 * drains them: it makes blocks of records, and adds clocks and descriptions. The holder is usually
 * the helper thread. A flush, the end of the program and the handler of a fatal signal drain, too.
 */
#ifndef EVENTLOG_APP_LOG_H
#define EVENTLOG_APP_LOG_H

#include "common/base/clock.h"
#include "common/inproc/inproc.h"
#include "common/ring/event_link.h"
#include "eventlog/app/event.h"
#include "eventlog/evblock.h"
#include "eventlog/evtrigger.h"
#include "eventlog/evwhere.h"
#include "eventlog/send/evsend.h"

#include <pthread.h>
#include <stdatomic.h>

/* bytes of a block of records, so that its system call is a thousandth of the work */
#define LOG_BUFFER_BYTES (128 * 1024)
/* buffers of a thread: a MiB lasts for some ms at the highest rate; unused buffers cost nothing */
#define LOG_BUFFERS 8
#define LOG_TYPES_MAX 4096 /* descriptions of one process */
/* largest age of a record in a buffer, and interval of checking the trigger file */
#define LOG_FLUSH_NS NSEC_PER_SEC

/* A stream: the events of one thread, until the thread ends. */
struct log_thread {
	struct omig_event_thread at; /* must be the first member: omig_event_here points to it */
	struct log_thread *next;
	/*
	 * number of buffers that the thread has filled; release here, acquire by the holder of
	 * `lock`
	 */
	_Atomic uint64_t filled;
	/* number of buffers that were written; release by the holder of `lock` */
	_Atomic uint64_t done;
	_Atomic bool has_ended;
	size_t used[LOG_BUFFERS]; /* bytes in each filled buffer */
	size_t written; /* bytes that were written of the buffer that is being drained */
	struct evblock head;
	uint8_t said[LOG_TYPES_MAX / 8]; /* bits: descriptions that were written to this stream */
	/* is_over: the thread has ended, and all its records were written */
	bool has_said_who, is_over;
	uint64_t failed; /* events of blocks that could not be written */
	int32_t tid;
	uint8_t buffer[LOG_BUFFERS][LOG_BUFFER_BYTES];
};

/* The library's data about a description, by number. `lock` protects changes. */
struct log_type {
	struct omig_event *event; /* NULL: its module has been unloaded */
	int number; /* number of the type in the link; -1: none */
	/* encoded; never freed, because records may be drained after their module was unloaded */
	uint8_t *definition;
	size_t definition_bytes;
	struct evtype form; /* decoded names and kinds; allocated and never freed */
	struct evtests tests; /* conditions of the trigger, which must all hold */
};

struct log_state {
	struct inproc_lock lock; /* protects all members except those that threads write */
	/* held by omig_event_open() and omig_event_close(), around `lock` */
	struct inproc_lock opening;
	const struct event_link *link; /* link to subscribers outside the process; NULL: none */
	uint32_t own_bell;
	_Atomic(uint32_t *) bell; /* the word on which the helper waits: the link's, or our own */
	bool is_open; /* there is a file or a receiver */
	int fd; /* -1: no file */
	struct evsend *send; /* NULL: no receiver */
	unsigned flags, level;
	bool has_helper, has_handlers, has_key;
	bool follows_fork; /* the link's counter of forks, when the process forked */
	pthread_key_t key; /* the destructor of this key ends a thread's stream */
	enum ticks_source ticks;
	uint64_t wall_ahead; /* wall time less monotonic time, when the log was opened */
	uint64_t point_ticks[2]; /* the last two points of the clock, see clock.c */
	nsec_t point_ns[2];
	struct ticks_scale scale;
	/*
	 * identifies the thread that holds `lock`: a signal handler in it must not wait for the
	 * lock
	 */
	_Atomic(const void *) holder;
	_Atomic uint64_t stream; /* number of the next stream */
	uint64_t lost; /* events lost by threads that have ended, and on the way to a receiver */
	/*
	 * Any thread adds at the front, also in a signal handler. The holder of `lock` removes
	 * entries.
	 */
	_Atomic(struct log_thread *) threads;
	/* the definition that each stream begins with, without the thread's number */
	uint8_t who[1024];
	size_t who_bytes;
	struct log_type type[LOG_TYPES_MAX];
	unsigned ntype; /* numbers 1..ntype-1 are in use */
	struct evtrigger *trigger; /* NULL: no trigger file */
	/* header, clock and descriptions of the block that is being written */
	uint8_t front[96 * 1024];
};

struct log_state *log_the(void);
void log_lock(struct log_state *s);
void log_unlock(struct log_state *s);
/*
 * Takes the lock for a thread that writes events. Returns false if this thread holds it, or if
 * another thread did not release it within a minute.
 */
bool log_lock_if_free(struct log_state *s);

/* offset in `who` of the first constant's value; the constant is named tid */
#define LOG_TID_AT 18

/* --- threads.c */
/* Makes `who`, the part of the definition that all threads share. */
void log_say_who(struct log_state *s);
void log_thread_ended(void *thread);
uint64_t log_thread_lost(const struct log_thread *t);
void log_threads_free_ended(struct log_state *s);
/* Makes each thread begin a new stream, for another log. Under `lock`. */
void log_threads_renew(struct log_state *s);
/* Drops the threads and records of the parent in a child process. */
void log_threads_forget(struct log_state *s);

/* --- drain.c: called under `lock` */
/* Writes filled buffers; all: also the others. Signal-safe. */
void log_drain(struct log_state *s, struct log_thread *t, bool all);
void log_drain_all(struct log_state *s, bool all);
/* Writes the end of each stream. */
void log_end_all(struct log_state *s);

/* --- clock.c */
void log_clock_start(struct log_state *s);
/* Updates the scale for records up to now. Signal-safe. */
void log_clock_look(struct log_state *s);

/* --- types.c */
/* Announces a type to the link, once. Under `lock`. */
void log_type_announce(struct log_state *s, struct log_type *type);
/* Sets the on word of each description according to log, level and trigger. Under `lock`. */
void log_types_switch(struct log_state *s);
/*
 * Returns true if the trigger switches the type on. Stores conditions on its fields in *type. Under
 * `lock`.
 */
bool log_type_is_asked(const struct evtrigger *t, const struct omig_event *ev, nsec_t wall,
		       struct log_type *type);

/* --- link.c */
void log_link_open(void);
/* Drops the link in a child process, because it belongs to the parent. Under `lock`. */
void log_link_forget(struct log_state *s);
/* Wakes the helper. Signal-safe. */
void log_ring(struct log_state *s);
/* Waits until the bell was rung after `seen`, or until that time. */
void log_wait(struct log_state *s, uint32_t *bell, uint32_t seen, nsec_t until);

/* --- helper.c */
void log_helper_start(struct log_state *s);
void log_handlers_set(struct log_state *s);

#endif
