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

#define NLOG_TEXT_BYTES 65536 /* of all strings of a message; it has less than 64 KB */

/*
 * Names and values of the current message. Names and strings are in text, or owned by the caller.
 */
struct nlfields {
	unsigned n, nconst; /* the first nconst are constants of the type */
	char *name[EV_FIELDS_MAX];
	struct evvalue value[EV_FIELDS_MAX];
	size_t used;
	bool has_failed; /* too much: nothing is written */
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
	struct evalone_said said; /* of the current block, for a receiver */
	char *tag; /* names and values added to every message; NULL = none */
	struct omig_nlsumm *summ; /* borrowed; NULL = none */
	struct nlfields *constants; /* of NL_set_const; NULL = none */
	struct evtrigger *trigger; /* NULL = all is on */
	struct omig_nlog *to; /* destinations of its trigger, by `to`; they are in no other list */
	char *url; /* of such a destination; it has no output where that could not be opened */
	struct nlfields fields; /* of the message that is being made */
};

/* Takes the output, also on failure. Returns NULL with errno. */
struct omig_nlog *nlog_new(const struct nlout *out, const char *program);
/* Writes the rest; a receiver may need EVSEND_CLOSE_NS. Returns -1 on failure. */
int nlog_close(struct omig_nlog *h);

/*
 * Takes what is on, and where it goes, from a trigger file, now and each interval (0: each second).
 * NULL or "": no longer. 0, or -1 without memory.
 */
int nlog_set_trigger(struct omig_nlog *h, const char *file, nsec_t interval);

/* Under h->lock: writes the fields as an event. 1, 0 where the trigger has it off, or -1. */
int nlog_write(struct omig_nlog *h, nsec_t wall, int level, const char *event);
/* Under h->lock: writes to the file. Returns 0, or -1. */
int nlog_flush(struct omig_nlog *h);

/* --- nlurl.c: 0, or -1 with errno, and a line on stderr for what is no destination */
int nlurl_open(const char *url, bool is_append, struct nlout *out);
void nlout_close(const struct nlout *out);

/* --- nlformat.c: onto f; is_const: they are constants */
void nlfields_clear(struct nlfields *f);
void nlfields_copy(struct nlfields *to, const struct nlfields *from);
/* Parses "NAME=%d OTHER=%s FIXED=7" as printf does; ap NULL: no conversions, the text unchanged. */
void nlfields_printf(struct nlfields *f, const char *fmt, va_list *ap);
/* Parses "name=i other=s" */
void nlfields_letters(struct nlfields *f, const char *fmt, va_list *ap);

#endif
