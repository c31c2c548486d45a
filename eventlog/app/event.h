/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a C or C++ program, each with a type, a time and values.
 *
 *	#include <omig/event.h>
 *
 *	OMIG_EVENT(block_sent, "block.sent", OMIG_INFO,
 *		   (int32, bytes), (double, rate), (string, to))
 *	...
 *	omig_event(block_sent, n, r, name);
 *
 *	cc ... -lomig-event
 *
 * C99 or C++11 is enough, also without extensions. An event has up to twelve fields. The kinds are
 *
 *	int32, int64   whole numbers of 4 and of 8 bytes
 *	float, double  numbers of 4 and of 8 bytes
 *	string         const char *, up to OMIG_EVENT_TEXT_MAX bytes of it
 *
 * An event that is off costs a load, a test and a branch. Its arguments are not evaluated. An event
 * that is on costs a read of the clock and a record in a buffer of the thread. It takes no lock and
 * no system call, and does not wait. When all buffers are full the event is dropped, and counted in
 * the log.
 *
 * Events are on when a log is open. omig_event_open() opens one. The variable OMIG_EVENT_LOG=FILE
 * opens one in a program that does not call this function. OMIG_EVENT_TRIGGER=FILE switches them
 * while the program runs (docs/eventlog.md, which also lists the calls that may wait). omig_event()
 * may be used in any thread and in signal handlers.
 */
#ifndef OMIG_EVENT_H
#define OMIG_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A higher level logs more events. */
enum { OMIG_FATAL = 1, OMIG_ERROR, OMIG_WARN, OMIG_INFO, OMIG_DEBUG, OMIG_TRACE };

enum omig_event_flags {
	/* a thread writes full buffers itself, instead of dropping events */
	OMIG_EVENT_WAIT = 1,
	OMIG_EVENT_APPEND = 2 /* appends to an existing file */
};

/*
 * Opens the log of this process: "FILE", "file://FILE", or a receiver: "x-netlog://HOST:PORT",
 * "x-netlog-udp://HOST:PORT" (`omig log receive`), or "x-syslog://". NULL means the value of
 * OMIG_EVENT_LOG. Returns 0, or -1 with errno: EPROTONOSUPPORT for another URL, EBUSY if a log is
 * open. A receiver may start later. From now on events up to OMIG_EVENT_LEVEL (default: all) are
 * on, or those that the trigger file selects.
 */
int omig_event_open(const char *to, unsigned flags);

/*
 * Blocks until all records of any thread are in the file, or on the disk of the receiver. Waits for
 * a receiver for at most two seconds (ETIMEDOUT). Returns 0, or -1 with errno.
 */
int omig_event_flush(void);

/*
 * Switches events off, writes the last ones and closes the log. The end of a program does the same.
 * It waits for a receiver like a flush. A line on stderr counts the events that the receiver has
 * not confirmed.
 */
int omig_event_close(void);

/*
 * Returns the number of events dropped by all threads since the log was opened. Waits while a block
 * is being written.
 */
uint64_t omig_event_lost(void);

/* --- for the macros only */

struct omig_event_field {
	const char *name;
	int kind;
};

/* A type of events. The library changes its members after registration. */
struct omig_event {
	unsigned on; /* 0: off; otherwise OMIG_EVENT_LOGGED, OMIG_EVENT_REPORTED, or both */
	uint16_t number; /* number of this type in this process */
	uint8_t level, nfield;
	const char *name;
	const struct omig_event_field *field;
	struct omig_event *next;
};

/* The buffer of a thread. */
struct omig_event_thread {
	unsigned char *at, *end; /* place of the next record; end of the buffer */
	/* records before this place are complete, so that other threads may read them */
	unsigned char *shown;
	uint64_t dropped;
	/* a record is being written, so that a signal handler must not begin another one */
	int busy;
	int is_tsc;
};

/* With the TLS model initial-exec, access needs a load instead of a call. */
extern __thread struct omig_event_thread *omig_event_here
	__attribute__((tls_model("initial-exec")));

enum { OMIG_EVENT_LOGGED = 1, OMIG_EVENT_REPORTED = 2 };

void omig_event_register(struct omig_event *ev);
void omig_event_unregister(struct omig_event *ev);
struct omig_event_thread *omig_event_first(struct omig_event_thread *h);
int omig_event_more(struct omig_event_thread *h, size_t bytes);
/* Signal-safe. Returns the time for a record if there is no time stamp counter. */
uint64_t omig_event_clock(void);
/*
 * Passes the record to subscribers outside the process. Returns the number of bytes for the log. h
 * NULL: the log had no room.
 */
size_t omig_event_report(const struct omig_event *ev, struct omig_event_thread *h, size_t bytes);

#pragma GCC visibility pop

enum { OMIG_KIND_int32 = 1, OMIG_KIND_int64, OMIG_KIND_float, OMIG_KIND_double, OMIG_KIND_string };
#define OMIG_EVENT_TEXT_MAX 4096 /* bytes of a string; the rest is cut */

static inline uint64_t omig_event_ticks(int is_tsc)
{
#if defined(__x86_64__)
	if (__builtin_expect(is_tsc, 1))
		return __builtin_ia32_rdtsc();
#endif
	(void)is_tsc;
	return omig_event_clock();
}

static inline int omig_event_is_reported(const struct omig_event *ev)
{
	return __builtin_expect(__atomic_load_n(&ev->on, __ATOMIC_RELAXED) & OMIG_EVENT_REPORTED,
				0);
}

/* Begins a record. Returns NULL, and counts a lost event, if there is no room. */
static inline unsigned char *omig_event_begin(const struct omig_event *ev, size_t bytes,
					      struct omig_event_thread **out)
{
	struct omig_event_thread *h = omig_event_here;
	uint16_t head[2];
	uint64_t ticks;

	if (__builtin_expect(!h || h->busy, 0)) {
		h = omig_event_first(h);
		if (!h) {
			if (omig_event_is_reported(ev))
				omig_event_report(ev, NULL, 0);
			return NULL;
		}
	}
	h->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect((size_t)(h->end - h->at) < bytes, 0) && !omig_event_more(h, bytes)) {
		h->busy = 0;
		if (omig_event_is_reported(ev))
			omig_event_report(ev, NULL, 0);
		return NULL;
	}
	head[0] = ev->number;
	head[1] = (uint16_t)bytes;
	ticks = omig_event_ticks(h->is_tsc);
	memcpy(h->at, head, sizeof(head));
	memcpy(h->at + 4, &ticks, sizeof(ticks));
	*out = h;
	return h->at + 12;
}

static inline void omig_event_end(const struct omig_event *ev, struct omig_event_thread *h,
				  size_t bytes)
{
	if (omig_event_is_reported(ev))
		bytes = omig_event_report(ev, h, bytes);
	h->at += bytes;
	__atomic_store_n(&h->shown, h->at, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	h->busy = 0;
}

static inline size_t omig_event_text_bytes(const char *s)
{
	size_t n = 0;

	if (s) /* like strnlen(), which standard C lacks */
		while (n < OMIG_EVENT_TEXT_MAX && s[n])
			n++;
	return 2 + n;
}

static inline unsigned char *omig_event_put(unsigned char *p, const void *value, size_t n)
{
	memcpy(p, value, n);
	return p + n;
}

static inline unsigned char *omig_event_put_text(unsigned char *p, const char *s, size_t bytes)
{
	uint16_t n = (uint16_t)(bytes - 2);

	memcpy(p, &n, 2);
	if (n)
		memcpy(p + 2, s, n);
	return p + bytes;
}

#define OMIG_TYPE_int32 int32_t
#define OMIG_TYPE_int64 int64_t
#define OMIG_TYPE_float float
#define OMIG_TYPE_double double
#define OMIG_TYPE_string const char *
#define OMIG_BYTES_int32(v) 4u
#define OMIG_BYTES_int64(v) 8u
#define OMIG_BYTES_float(v) 4u
#define OMIG_BYTES_double(v) 8u
#define OMIG_BYTES_string(v) omig_event_text_bytes(v)
#define OMIG_PUT_int32(p, v, n) omig_event_put(p, &v, 4)
#define OMIG_PUT_int64(p, v, n) omig_event_put(p, &v, 8)
#define OMIG_PUT_float(p, v, n) omig_event_put(p, &v, 4)
#define OMIG_PUT_double(p, v, n) omig_event_put(p, &v, 8)
#define OMIG_PUT_string(p, v, n) omig_event_put_text(p, v, n)

/* Macros for one (kind, name). */
#define OMIG_PARAM(kind, name) , OMIG_TYPE_##kind name
#define OMIG_FIELD(kind, name) { #name, OMIG_KIND_##kind },
#define OMIG_LENGTH(kind, name) const size_t omig_n_##name = OMIG_BYTES_##kind(name);
#define OMIG_SUM(kind, name) +omig_n_##name
#define OMIG_STORE(kind, name) omig_p = OMIG_PUT_##kind(omig_p, name, omig_n_##name);

#define OMIG_CALL(m, pair) m pair
#define OMIG_1(m, a) OMIG_CALL(m, a)
#define OMIG_2(m, a, ...) OMIG_CALL(m, a) OMIG_1(m, __VA_ARGS__)
#define OMIG_3(m, a, ...) OMIG_CALL(m, a) OMIG_2(m, __VA_ARGS__)
#define OMIG_4(m, a, ...) OMIG_CALL(m, a) OMIG_3(m, __VA_ARGS__)
#define OMIG_5(m, a, ...) OMIG_CALL(m, a) OMIG_4(m, __VA_ARGS__)
#define OMIG_6(m, a, ...) OMIG_CALL(m, a) OMIG_5(m, __VA_ARGS__)
#define OMIG_7(m, a, ...) OMIG_CALL(m, a) OMIG_6(m, __VA_ARGS__)
#define OMIG_8(m, a, ...) OMIG_CALL(m, a) OMIG_7(m, __VA_ARGS__)
#define OMIG_9(m, a, ...) OMIG_CALL(m, a) OMIG_8(m, __VA_ARGS__)
#define OMIG_10(m, a, ...) OMIG_CALL(m, a) OMIG_9(m, __VA_ARGS__)
#define OMIG_11(m, a, ...) OMIG_CALL(m, a) OMIG_10(m, __VA_ARGS__)
#define OMIG_12(m, a, ...) OMIG_CALL(m, a) OMIG_11(m, __VA_ARGS__)
#define OMIG_PICK(a, b, c, d, e, f, g, h, i, j, k, l, which, ...) which
#define OMIG_EACH(m, ...)                                                                         \
	OMIG_PICK(__VA_ARGS__, OMIG_12, OMIG_11, OMIG_10, OMIG_9, OMIG_8, OMIG_7, OMIG_6, OMIG_5, \
		  OMIG_4, OMIG_3, OMIG_2, OMIG_1, 0)                                              \
	(m, __VA_ARGS__)

/* Registers the type when the program or library that contains it is loaded. */
#define OMIG_EVENT_KNOWN(id)                                                 \
	static void __attribute__((constructor)) omig_event_begin_##id(void) \
	{                                                                    \
		omig_event_register(&id);                                    \
	}                                                                    \
	static void __attribute__((destructor)) omig_event_end_##id(void)    \
	{                                                                    \
		omig_event_unregister(&id);                                  \
	}

#define OMIG_EVENT(id, text, lvl, ...)                                                        \
	static const struct omig_event_field omig_event_fields_##id[] = { OMIG_EACH(          \
		OMIG_FIELD, __VA_ARGS__) };                                                   \
	static struct omig_event id = {                                                       \
		0,	0,                                                                    \
		(lvl),	sizeof(omig_event_fields_##id) / sizeof(omig_event_fields_##id[0]),   \
		(text), omig_event_fields_##id,                                               \
		NULL                                                                          \
	};                                                                                    \
	OMIG_EVENT_KNOWN(id)                                                                  \
	static inline void omig_event_write_##id(                                             \
		struct omig_event *omig_ev OMIG_EACH(OMIG_PARAM, __VA_ARGS__))                \
	{                                                                                     \
		struct omig_event_thread *omig_h;                                             \
		unsigned char *omig_p;                                                        \
		OMIG_EACH(OMIG_LENGTH, __VA_ARGS__)                                           \
		const size_t omig_n = (12 OMIG_EACH(OMIG_SUM, __VA_ARGS__) + 3) & ~(size_t)3; \
		omig_p = omig_event_begin(omig_ev, omig_n, &omig_h);                          \
		if (!omig_p)                                                                  \
			return;                                                               \
		memset(omig_h->at + omig_n - 4, 0, 4);                                        \
		OMIG_EACH(OMIG_STORE, __VA_ARGS__)                                            \
		(void)omig_p;                                                                 \
		omig_event_end(omig_ev, omig_h, omig_n);                                      \
	}

/* Defines a type without fields. */
#define OMIG_EVENT0(id, text, lvl)                                            \
	static struct omig_event id = { 0, 0, (lvl), 0, (text), NULL, NULL }; \
	OMIG_EVENT_KNOWN(id)                                                  \
	static inline void omig_event_write_##id(struct omig_event *omig_ev)  \
	{                                                                     \
		struct omig_event_thread *omig_h;                             \
		if (omig_event_begin(omig_ev, 12, &omig_h))                   \
			omig_event_end(omig_ev, omig_h, 12);                  \
	}

#define omig_event_is_on(id) __builtin_expect(__atomic_load_n(&(id).on, __ATOMIC_RELAXED) != 0, 0)
#define omig_event(id, ...)                                        \
	do {                                                       \
		if (omig_event_is_on(id))                          \
			omig_event_write_##id(&(id), __VA_ARGS__); \
	} while (0)
#define omig_event0(id)                               \
	do {                                          \
		if (omig_event_is_on(id))             \
			omig_event_write_##id(&(id)); \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif
