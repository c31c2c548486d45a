/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit of a daemon: one line of JSON for each manipulation that this daemon has done or
 * refused. A line has the identity, the action, its objects and its outcome. The audit is a private
 * file of bounded size with one older file beside it. It never contains secrets: memory written
 * into a program, binary values and environments appear as a length and a digest. Digests are
 * comparable only during this daemon's life. Nothing is synced to the disk: a line costs one
 * write() into the page cache. A crash of the machine loses the last seconds.
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
	const struct disk *disk; /* for the file; borrowed; NULL = the system's */
	const char *daemon; /* "lm": in each line; copied */
	const char *host; /* in each line; copied */
	size_t max_bytes; /* size of the file; 0 = AUDIT_FILE_MAX_BYTES */
	/*
	 * Called once when lines begin to be lost. why NULL: writing works again, and n lines are
	 * missing. May be NULL.
	 */
	void (*on_trouble)(void *arg, const struct err *why, uint64_t n);
	void *arg;
};

/*
 * Fails with ERR_NOMEM. A file that cannot be opened is reported by on_trouble at the first line.
 */
int audit_open(const struct audit_conf *c, struct audit **out);

/* For on_trouble: logs it. arg: the kind of record, as a text. */
void audit_log_trouble(void *arg, const struct err *why, uint64_t n);

/* Writes the number of refusals that have no line yet, and closes the file. */
void audit_close(struct audit *a);

struct audit_entry {
	const char *identity; /* identity of the tool's certificate */
	uint32_t session;
	const char *csr; /* csr of the action; NULL or "" = the action of a request */
	const struct omis_call *call;
	/* Outcome: entries of this action from number `first` on. NULL: the call was refused. */
	const struct reply *reply;
	uint32_t action;
	size_t first;
	nsec_t wall;
};

/* True if the call is recorded after it was done. Refusals are always recorded. */
bool audit_concerns(const struct omis_call *c);

/*
 * Records a call. Has no effect if a is NULL. After AUDIT_REFUSED_MAX refusals of an identity,
 * further ones are only counted.
 */
void audit_note(struct audit *a, const struct audit_entry *x);

/*
 * Writes the values of omig_audit(): daemon, host, left_out, more, [entry]... The newest entry is
 * first; there are at most max entries with a number above `since`. more: there are further ones.
 * Fails with ERR_NOMEM.
 */
int audit_read(const struct audit *a, int64_t since, int64_t max, struct buf *out);

#endif
