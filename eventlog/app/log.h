/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a process. Threads write records into buffers of their own. The holder of `lock`
 * drains them. That is usually the helper thread. It may also be a thread that flushes, the end of
 * the program, or the handler of a fatal signal. The drainer makes blocks of records and adds
 * clocks and descriptions.
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

/* a block of records; the system call is then a thousandth of the work */
#define LOG_BUFFER_BYTES (128 * 1024)
/* of a thread: a MiB lasts ms at the highest rate; untouched ones cost nothing */
#define LOG_BUFFERS 8
#define LOG_TYPES_MAX 4096 /* descriptions in one process */
/* largest age of a record in a buffer, and interval of checking the trigger file */
#define LOG_FLUSH_NS NSEC_PER_SEC

/* A stream: one thread, until it ends. */
struct log_thread {
	struct omig_event_thread at; /* first: what omig_event_here points to */
	struct log_thread *next;
	/* buffers that the thread has filled; release here, acquire by the drainer */
	_Atomic uint64_t filled;
	_Atomic uint64_t done; /* buffers that were written out; release by the drainer */
	_Atomic bool has_ended;
	size_t used[LOG_BUFFERS]; /* bytes of each filled buffer */
	size_t written; /* bytes that are written out, of the buffer that is being drained */
	struct evblock head;
	uint8_t said[LOG_TYPES_MAX / 8]; /* descriptions already written to this stream */
	bool has_said_who, is_over; /* is_over: the thread has ended, and all its records are
				     * written out */
	uint64_t failed; /* events whose block could not be written */
	int32_t tid;
	uint8_t buffer[LOG_BUFFERS][LOG_BUFFER_BYTES];
};

/* Data of the library about a description, by number. Written under `lock`. */
struct log_type {
	struct omig_event *event; /* NULL: its module was unloaded */
	int number; /* number in the link; -1: none */
	/*
	 * as in a stream; never freed, because records may be drained after their module was
	 * unloaded
	 */
	uint8_t *definition;
	size_t definition_bytes;
	struct evtype form; /* names and kinds; its fields are of the allocator, and never freed */
	struct evtests tests; /* all must hold */
};

struct log_state {
	struct inproc_lock lock; /* protects everything except the members that threads write */
	struct inproc_lock opening; /* of omig_event_open and close, held around `lock` */
	const struct event_link *link; /* to receivers outside the process; NULL: none */
	uint32_t own_bell;
	_Atomic(uint32_t *) bell; /* word at which the helper waits: the link's, or our own */
	bool is_open; /* there is a log: a file, or a receiver */
	int fd; /* -1: no file */
	struct evsend *send; /* NULL: no receiver */
	unsigned flags, level;
	bool has_helper, has_handlers, has_key;
	bool follows_fork; /* the link's word, when the process forked */
	pthread_key_t key; /* its destructor ends a thread's stream */
	enum ticks_source ticks;
	uint64_t wall_ahead; /* wall time less monotonic time, when the log was opened */
	uint64_t point_ticks[2]; /* the last two points of the clock, see clock.c */
	nsec_t point_ns[2];
	struct ticks_scale scale;
	/* the thread that holds `lock`: a signal handler in it must not wait for the lock */
	_Atomic(const void *) holder;
	_Atomic uint64_t stream; /* number of the next one */
	uint64_t lost; /* of threads that have ended, and on the way to a receiver */
	/* Any thread adds at the front, also in a signal handler. The holder of `lock` removes. */
	_Atomic(struct log_thread *) threads;
	uint8_t who[1024]; /* a stream's own definition, without the thread's number */
	size_t who_bytes;
	struct log_type type[LOG_TYPES_MAX];
	unsigned ntype; /* numbers 1..ntype-1 are given */
	struct evtrigger *trigger; /* NULL: none is watched */
	/* header, clock and descriptions of the block that is being written */
	uint8_t front[96 * 1024];
};

struct log_state *log_the(void);
void log_lock(struct log_state *s);
void log_unlock(struct log_state *s);
/*
 * For threads that write. Returns false if this thread holds it, or another did not release it
 * within a minute.
 */
bool log_lock_if_free(struct log_state *s);

#define LOG_TID_AT 18 /* in `who`: the value of the first constant, which is named tid */

/* --- threads.c */
/* Makes `who`: the part that all threads share. */
void log_say_who(struct log_state *s);
void log_thread_ended(void *thread);
uint64_t log_thread_lost(const struct log_thread *t);
void log_threads_free_ended(struct log_state *s);
/* Another log begins: streams begin again, with their own numbers. Under `lock`. */
void log_threads_renew(struct log_state *s);
/* In a child process: drops the threads and records of the parent. */
void log_threads_forget(struct log_state *s);

/* --- drain.c: under `lock` */
/* Writes out complete buffers; all: also those that are not full. Signal-safe. */
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
 * Returns true if the trigger switches the type on. Stores the conditions on its fields in *type.
 * Under `lock`.
 */
bool log_type_is_asked(const struct evtrigger *t, const struct omig_event *ev, nsec_t wall,
		       struct log_type *type);

/* --- link.c */
void log_link_open(void);
/* In a child process: drops the link, which is the parent's. Under `lock`. */
void log_link_forget(struct log_state *s);
/* Wakes the helper. Signal-safe. */
void log_ring(struct log_state *s);
/* Waits until the bell is rung after `seen`, or until that time. */
void log_wait(struct log_state *s, uint32_t *bell, uint32_t seen, nsec_t until);

/* --- helper.c */
void log_helper_start(struct log_state *s);
void log_handlers_set(struct log_state *s);

#endif
