/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle: an event log, its lock, its buffer, and the helper that writes records older than a
 * second.
 */
#ifndef EVENTLOG_NETLOGGER_NLOG_H
#define EVENTLOG_NETLOGGER_NLOG_H

#include "common/inproc/inproc.h"
#include "eventlog/evtrigger.h"
#include "eventlog/evwrite.h"
#include "eventlog/netlogger/netlogger.h"
#include "eventlog/send/evsend.h"
#include "eventlog/text/evalone.h"

#include <pthread.h>
#include <stdarg.h>

#define NLOG_TEXT_BYTES 65536 /* bytes of all strings of a message, which has less than 64 KB */

/*
 * Names and values of the current message. Names and strings are in `text`, or owned by the caller.
 */
struct nlfields {
	unsigned n, nconst; /* the first nconst are constants of the type */
	char *name[EV_FIELDS_MAX];
	struct evvalue value[EV_FIELDS_MAX];
	size_t used;
	bool has_failed; /* the message is too large, and is not written */
	char text[NLOG_TEXT_BYTES];
};

/* Where a handle writes: a descriptor, or a receiver in the net. */
struct nlout {
	int fd; /* -1: none */
	bool is_borrowed; /* fd must not be closed */
	struct evsend *send; /* NULL: none */
};

struct omig_nlog {
	struct inproc_lock lock;
	struct omig_nlog *next;
	struct nlout out;
	int level;
	bool is_on, is_broken; /* is_broken: a write has failed */
	char *program;
	struct evwrite w;
	struct evtypes types;
	struct evalone_said said; /* descriptions in the current block, for a receiver */
	char *tag; /* names and values added to every message; NULL = none */
	struct omig_nlsumm *summ; /* borrowed; NULL = none */
	struct nlfields *constants; /* constants of NL_set_const; NULL = none */
	struct evtrigger *trigger; /* NULL = all messages are on */
	/* list of the trigger's destinations, by `to`; they are in no other list */
	struct omig_nlog *to;
	char *url; /* for such a destination: its URL; it has no output if opening has failed */
	struct nlfields fields; /* fields of the current message */
};

/* Takes the output, also on failure. Returns NULL, with errno, on failure. */
struct omig_nlog *nlog_new(const struct nlout *out, const char *program);
/*
 * Writes the remaining messages; waits up to EVSEND_CLOSE_NS for a receiver. Returns -1 on failure.
 */
int nlog_close(struct omig_nlog *h);

/*
 * Reads a trigger file, which selects messages and destinations, now and at each interval (0: each
 * second). NULL or "" ends this. Returns 0, or -1 without memory.
 */
int nlog_set_trigger(struct omig_nlog *h, const char *file, nsec_t interval);

/*
 * Called under h->lock: writes the fields as an event. Returns 1, 0 if the trigger does not select
 * it, or -1.
 */
int nlog_write(struct omig_nlog *h, nsec_t wall, int level, const char *event);
/* Called under h->lock: writes to the file. Returns 0, or -1. */
int nlog_flush(struct omig_nlog *h);

/* --- nlurl.c: returns 0, or -1 with errno; an invalid destination is reported on stderr */
int nlurl_open(const char *url, bool is_append, struct nlout *out);
void nlout_close(const struct nlout *out);

/* --- nlformat.c: appends to f; is_const: as constants */
void nlfields_clear(struct nlfields *f);
void nlfields_copy(struct nlfields *to, const struct nlfields *from);
/* Parses "NAME=%d OTHER=%s FIXED=7" like printf. ap NULL: the text is taken unchanged. */
void nlfields_printf(struct nlfields *f, const char *fmt, va_list *ap);
/* Parses "name=i other=s". */
void nlfields_letters(struct nlfields *f, const char *fmt, va_list *ap);

#endif
