/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reply to a request: entries (action, objects, status, value) and the coverage. The coverage
 * has the numbers of objects asked and answered, the missing ones, and the age of the data. All
 * programs use this struct, from the lm to the tool.
 */
#ifndef COMMON_OMIS_REPLY_REPLY_H
#define COMMON_OMIS_REPLY_REPLY_H

#include "common/base/buf.h"
#include "common/omis/text/request.h"
#include "common/omis/text/status.h"

struct reply_entry {
	uint32_t action; /* 0 = the request itself, i = its i-th action */
	uint32_t status; /* enum status */
	/* tokens separated by commas; "" = none named, or all remaining objects */
	const char *objects;
	/* values separated by commas, or the text of an error; a binary value may contain a 0 */
	const char *value;
	size_t nvalue; /* value[nvalue] is 0 */
};

struct reply_missing {
	const char *object; /* token of the object, or of a daemon on the way to it */
	const char *reason;
};

struct reply_coverage {
	uint32_t asked, answered; /* numbers of objects, each once per action */
	struct reply_missing *missing;
	size_t nmissing, cap;
	uint32_t more_missing; /* objects beyond REPLY_MISSING_MAX, which are only counted */
	int64_t oldest_ns, newest_ns; /* system times at which the data were valid; 0 = unknown */
};

/* The members may be read, and numbers set; strings belong to the reply. */
struct reply {
	uint64_t id; /* id of the request */
	/* 0 = final; otherwise the status code of a csr's event: STATUS_CSR_TRIGGERED, ... */
	uint32_t kind;
	struct reply_entry *entry;
	size_t nentry, cap;
	struct reply_coverage coverage;
	const char *csr; /* token of the csr, or "" */
	struct arena *arena; /* owns the strings and this struct */
};

#define REPLY_ENTRIES_MAX 65536 /* one entry for each of OMIS_OBJECTS_MAX objects */
#define REPLY_MISSING_MAX 1024 /* names beyond these are useless */
#define REPLY_MAX_BYTES (16 * 1024 * 1024)

struct reply *reply_new(void);
void reply_free(struct reply *r);

/*
 * Copies all strings. objects and value may be NULL for "". Fails with ERR_NOMEM, ERR_LIMIT,
 * without a change.
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
 * Adds an object that did not answer. A repeated object with the same reason is added once. The
 * caller maintains the counts.
 */
int reply_add_missing(struct reply *r, const char *object, const char *reason);

/* Adds the time of data in this reply: valid between these times; 0 is ignored. */
void reply_add_time(struct reply *r, int64_t oldest_ns, int64_t newest_ns);

/* Adds entries, with unchanged action numbers, and coverage of `from`, which is unchanged. */
int reply_append(struct reply *r, const struct reply *from);

/*
 * Sorts entries by action, and merges those of one action by the rule of its service: action i is
 * action[i - 1] of `request`. Void results that are OK become one entry without objects behind the
 * errors. Equal results join their object lists; counters and integrators of the same object are
 * added up. An action without any entry gets an empty OK, unless the reply is partial: then its
 * result is unknown. Repeating it has no effect. numbers[i] is the action number of action i in the
 * entries, ascending; NULL = 1, 2, ... Fails with ERR_NOMEM, without a change.
 */
int reply_merge(struct reply *r, const struct omis_request *request, const uint32_t *numbers);

/* Makes a reply that only reports an error of the request: entry 0. */
int reply_from_diag(struct reply *r, unsigned status, const struct err *why);

/*
 * Returns the status of the whole reply: the first error in the order of entries, or OK. Missing
 * objects have no influence.
 */
unsigned reply_status(const struct reply *r);
bool reply_is_partial(const struct reply *r);

#endif
