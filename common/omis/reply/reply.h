/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reply to a request: entries (action, objects, status, value) and the coverage. Coverage: how
 * many of how many objects answered, which did not, how old the data are. One struct from the lm
 * that makes it to the tool that shows it.
 */
#ifndef COMMON_OMIS_REPLY_REPLY_H
#define COMMON_OMIS_REPLY_REPLY_H

#include "common/base/buf.h"
#include "common/omis/text/request.h"
#include "common/omis/text/status.h"

struct reply_entry {
	uint32_t action; /* 0 = the request itself, i = its i-th action */
	uint32_t status; /* enum status */
	const char *objects; /* tokens separated by commas; "" = none named, or all others */
	/* values separated by commas, or a text for an error; a binary value may contain a 0 */
	const char *value;
	size_t nvalue; /* value[nvalue] is 0 */
};

struct reply_missing {
	const char *object; /* a token: of the object, or of a daemon on the way to it */
	const char *reason;
};

struct reply_coverage {
	uint32_t asked, answered; /* objects, once an action each */
	struct reply_missing *missing;
	size_t nmissing, cap;
	uint32_t more_missing; /* beyond REPLY_MISSING_MAX: counted only */
	int64_t oldest_ns, newest_ns; /* when the data were true, system time; 0 = unknown */
};

/* Fields may be read and numbers set freely; strings belong to the reply. */
struct reply {
	uint64_t id; /* of the request */
	/* 0 = final; else the status code of a CSR's event: STATUS_CSR_TRIGGERED, ... */
	uint32_t kind;
	struct reply_entry *entry;
	size_t nentry, cap;
	struct reply_coverage coverage;
	const char *csr; /* token, or "" */
	struct arena *arena; /* of the strings and this struct */
};

#define REPLY_ENTRIES_MAX 65536 /* an entry an object: OMIS_OBJECTS_MAX */
#define REPLY_MISSING_MAX 1024 /* more names are of no use to a user */
#define REPLY_MAX_BYTES (16 * 1024 * 1024)

struct reply *reply_new(void);
void reply_free(struct reply *r);

/*
 * All strings are copied. objects and value may be NULL for "". -ERR_NOMEM, -ERR_LIMIT change
 * nothing.
 */
int reply_add(struct reply *r, uint32_t action, const char *objects, unsigned status,
	      const char *value);
int reply_add_n(struct reply *r, uint32_t action, const char *objects, unsigned status,
		struct bytes value);
/* Adds an error with a text. */
int reply_add_error(struct reply *r, uint32_t action, const char *objects, unsigned status,
		    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int reply_set_csr(struct reply *r, const char *csr);

/*
 * Adds an object that did not answer. A repeated object and reason is added once; the caller
 * maintains the counts.
 */
int reply_add_missing(struct reply *r, const char *object, const char *reason);

/* Adds the time of data in this reply: valid between these times; 0 is ignored. */
void reply_add_time(struct reply *r, int64_t oldest_ns, int64_t newest_ns);

/* Adds from's entries (action numbers unchanged) and coverage. `from` is unchanged. */
int reply_append(struct reply *r, const struct reply *from);

/*
 * Sorts entries by action. Merges them by the service of the action, which is r->action[i - 1] of
 * `request`. Void results that are OK become one entry without objects behind the errors. Equal
 * results join their object lists; counters and integrators of the same object are added up. An
 * action without any entry gets an empty OK, unless the reply is partial: then its result is
 * unknown. Repeating it has no effect. numbers[i] is the action number of action i in the entries,
 * ascending; NULL = 1, 2, ... -ERR_NOMEM: the reply is unchanged.
 */
int reply_merge(struct reply *r, const struct omis_request *request, const uint32_t *numbers);

/* Makes a reply that only reports that the request is wrong: entry 0. */
int reply_from_diag(struct reply *r, unsigned status, const struct err *why);

/*
 * Returns the overall status: the first error in the order of entries, else OK. Missing objects do
 * not count here.
 */
unsigned reply_status(const struct reply *r);
bool reply_is_partial(const struct reply *r);

#endif
