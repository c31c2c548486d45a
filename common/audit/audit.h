/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit of a daemon: one line of JSON for each manipulation that was decided here for the last
 * time, done or refused. A line has the identity, the action, its objects and its outcome. The
 * audit is a private file of bounded size with one older file beside it.
 *
 * Secrets never come into it: memory written into a program, binary values and environments appear
 * as a length and a digest. The digest means nothing outside of this daemon's life.
 *
 * Nothing is synced to the disk: a line costs one write() into the page cache. A crash of the
 * machine loses the last seconds.
 */
#ifndef COMMON_AUDIT_AUDIT_H
#define COMMON_AUDIT_AUDIT_H

#include "common/base/clock.h"
#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"

struct audit;
struct disk;

struct audit_conf {
	const char *path; /* copied; the older one is PATH.1 */
	const struct disk *disk; /* of it; borrowed; NULL = the system's */
	const char *daemon; /* "lm": in each line; copied */
	const char *host; /* the same */
	size_t max_bytes; /* of the file; 0 = AUDIT_FILE_MAX_BYTES */
	/* Once when lines begin to be lost. With why NULL: they are written again, n are missing.
	 * May be NULL. */
	void (*on_trouble)(void *arg, const struct err *why, uint64_t n);
	void *arg;
};

/* -ERR_NOMEM. A file that cannot be opened is trouble, reported when the first line is due. */
int audit_open(const struct audit_conf *c, struct audit **out);

/* For on_trouble: logs it. arg: what is recorded, as a text. */
void audit_log_trouble(void *arg, const struct err *why, uint64_t n);

/* What was left out to the last is written down. */
void audit_close(struct audit *a);

struct audit_entry {
	const char *identity; /* of the tool, end to end */
	uint32_t session;
	const char *csr; /* whose action it was; NULL or "" = a request's */
	const struct omis_call *call;
	/* How it went: entries of this action from number `first` on. NULL: it was refused. */
	const struct reply *reply;
	uint32_t action;
	size_t first;
	nsec_t wall;
};

/* Is it written down when it is done? Refusals always are. */
bool audit_concerns(const struct omis_call *c);

/* A NULL audit writes nothing. More than AUDIT_REFUSED_MAX refusals of an identity are only
 * counted. */
void audit_note(struct audit *a, const struct audit_entry *x);

/*
 * The values of omig_audit(): daemon, host, left_out, more, [entry]..., the newest first, at most
 * max of those with a number above `since`. more: there are others. -ERR_NOMEM.
 */
int audit_read(const struct audit *a, int64_t since, int64_t max, struct buf *out);

#endif
