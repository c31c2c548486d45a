/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted events that do not fit into memory. A run is a part of a temporary file. All runs share
 * one file, and thus one descriptor.
 */
#ifndef EVENTLOG_SORT_EVRUN_H
#define EVENTLOG_SORT_EVRUN_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdint.h>

/* Precedes the record of each event, in memory and in the file. */
struct evrun_head {
	nsec_t wall_ns;
	uint64_t stream, number, ticks;
	uint32_t type; /* index of its type */
	uint32_t n; /* bytes of the record */
};

#define EVRUN_RECORD_MAX_BYTES 65536 /* EV_RECORD_MAX_BYTES, rounded up */

/*
 * Opens a file without a name in folder. NULL means $TMPDIR, or /var/tmp, which is on a disk, while
 * /tmp is often memory. Fails with ERR_SYS.
 */
int evrun_file(const char *folder, int *fd, struct err *e);

/* Appends bytes at *end, and advances *end. Fails with ERR_SYS. */
int evrun_write(int fd, uint64_t *end, struct bytes b, struct err *e);

/* Reads one run. All zeros: an empty run. */
struct evrun {
	int fd; /* borrowed */
	uint64_t at, end; /* bytes of the file that are not read yet */
	size_t begin; /* index in `window` of the first unread byte */
	struct buf window;
};

void evrun_open(struct evrun *r, int fd, uint64_t begin, uint64_t end);
void evrun_done(struct evrun *r);

/*
 * Returns 1 with the next event, 0 at the end of the run. Fails with ERR_SYS, ERR_NOMEM. *record is
 * valid until the next call.
 */
int evrun_next(struct evrun *r, struct evrun_head *head, const uint8_t **record, struct err *e);

#endif
