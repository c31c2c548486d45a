/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of stored subscriptions. */
#ifndef EVENTLOG_KEEP_KEEP_INTERNAL_H
#define EVENTLOG_KEEP_KEEP_INTERNAL_H

#include "common/container/list.h"
#include "eventlog/keep/keeps.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spooler.h"

/* room in a spool that must not lose anything, for queued blocks and gaps */
#define KEEP_SPARE_BYTES (512 * 1024)

struct keeps {
	struct keeps_conf conf;
	char *dir; /* owned; NULL: none */
	struct list all; /* list of struct keep */
	size_t n;
	bool is_loading; /* the folder is being loaded */
	char refused[LEDGER_NAME_BYTES]; /* name of the last refused subscription, and the reason */
	struct err why;
};

struct keep {
	struct list link;
	struct keeps *owner;
	struct msg_events_open request; /* its strings are the members below */
	uint64_t promised; /* its share of the bytes of keeps_all */
	char name[LEDGER_NAME_BYTES];
	char *identity; /* owned */
	struct spooler *spooler;
	struct loop_timer *lease; /* runs while `stream` is 0 */
	struct loop_job ending; /* frees the subscription after its callers have returned */
	const char *why; /* the reason of its end; NULL: it has not ended */
	void *user;
	int consumer;
	uint64_t stream; /* number of the opening; 0: the parent requests no blocks */
	uint32_t room, on_way; /* unacknowledged messages: limit, and present number */
	uint64_t place[KEEP_ROOM_MAX]; /* places of unacknowledged messages, the oldest first */
	bool wants; /* further blocks were requested from the spool */
	bool has_sent_end; /* the end was sent in this opening */
	bool is_full, has_failed;
	int sources;
	/* empty_at: `appended` when the spool was read to its end, + 1; 0 = unknown */
	uint64_t appended, settled, empty_at;
};

/* --- keep_disk.c: files of a subscription beside its spool */
int keep_save(const struct keep *k, struct err *e);
void keep_erase(const struct keeps *ks, const char *name);
int keeps_load(struct keeps *ks, struct err *e);

/*
 * Loads a subscription that was not loaded at the start. Fails with ERR_NOTFOUND if there is none,
 * and with ERR_PARSE if its file is invalid.
 */
int keeps_take_up(struct keeps *ks, const char *name, struct err *e);

/* --- keeps.c */

/* Checks the room for another subscription, or for so many bytes of k. Fails with ERR_LIMIT. */
int keeps_has_room(const struct keeps *ks, const struct keep *k, uint64_t bytes, struct err *e);

/* --- keep.c */
int keep_new(struct keeps *ks, const struct msg_events_open *m, struct keep **out, struct err *e);
void keep_free(struct keep *k);
int keep_report(struct keep *k, const struct msg_events_open *m, struct err *e);
void keep_open_stream(struct keep *k, uint64_t stream, uint32_t room);
bool keep_is_empty(const struct keep *k);
void keep_say_end(struct keep *k); /* reports the end, once in an opening */
void keep_end_now(struct keep *k); /* ends k, with the reason k->why, and frees it */
void keep_acked(struct keep *k, uint64_t stream, uint64_t place);

#endif
