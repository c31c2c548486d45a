/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored subscriptions of a daemon (docs/protocol.md, events_open). Each has a name, an owner,
 * a spool and a lease. Appended blocks are sent to the parent, under its last opening, until it
 * acknowledges them. They survive a kill of the daemon. Only the end of a subscription waits for a
 * disk.
 *
 * For each subscription the folder has <name>/, the spool, and <name>.sub, the last accepted
 * events_open.
 */
#ifndef EVENTLOG_KEEP_KEEPS_H
#define EVENTLOG_KEEP_KEEPS_H

#include "common/base/file.h"
#include "common/loop/loop.h"
#include "common/store/store.h"
#include "eventlog/evblock.h"
#include "proto/msg.h"

#include <stdbool.h>

#define KEEPS_MAX 16 /* subscriptions, each with a thread */
#define KEEP_MIN_BYTES (UINT64_C(2) << 20) /* smallest limit of bytes on disk */
#define KEEP_MAX_BYTES (UINT64_C(4) << 30)
#define KEEPS_MAX_BYTES (UINT64_C(16) << 30) /* largest limit of bytes of all subscriptions */
/* subscriptions of a process for many users: each has a thread, and memory for queued blocks */
#define KEEPS_ALL_MAX 256
/* bytes of such a process: the disk of a site's sm for all users */
#define KEEPS_ALL_MAX_BYTES (UINT64_C(64) << 30)
#define KEEP_LEASE_MIN_S 10
#define KEEP_LEASE_MAX_S 86400
#define KEEP_ROOM_MAX 16 /* unacknowledged messages of half a MiB, even if more are requested */
#define KEEP_COMMIT_NS (20 * NSEC_PER_MSEC) /* blocks of this time are synced together */

struct keep;
struct keeps;
struct spooler_turns;

/* Limits that all struct keeps of a process share. Zero-initialise. */
struct keeps_all {
	size_t n;
	uint64_t bytes; /* limit of the bytes on disk */
};

struct keeps_conf {
	struct loop *loop; /* borrowed */
	const char *dir; /* folder, made when it is needed; NULL: no subscriptions are possible */
	const struct disk *disk; /* disk of the folder; borrowed; NULL: the system's */
	uint64_t max_bytes; /* limit of bytes of all subscriptions; 0 = KEEPS_MAX_BYTES */
	struct keeps_all *all; /* borrowed; NULL: the process has no other struct keeps */
	/* turns of all spools; borrowed; NULL: each spool has a thread */
	const struct spooler_turns *turns;
	/* no policy drops blocks: the caller checks keep_room() before it appends, and can wait */
	bool loses_nothing;
	/* sends to the parent; unsent blocks are sent again with the next opening */
	int (*send)(void *arg, const struct msg *m);
	void *send_arg;
	/* All are called from the loop or from keeps_take(), and may be NULL. */
	/* Called when a subscription is new, or when the parent has changed it. */
	void (*on_request)(void *arg, struct keep *k);
	/* Called when the first `appended` blocks are stored. */
	void (*on_settled)(void *arg, struct keep *k, uint64_t appended);
	/* called with the policy to stop: the sources must stop, or may continue */
	void (*on_full)(void *arg, struct keep *k, bool is_full);
	/*
	 * Called when a subscription exists, also after loading it from disk. It has no blocks yet.
	 */
	void (*on_made)(void *arg, struct keep *k);
	/* Called when blocks are about to be sent, or were found on the disk at the start. */
	void (*on_given)(void *arg, struct keep *k, const uint8_t *p, size_t n);
	/*
	 * Called when a subscription has ended, or could not be made after on_made. k is freed
	 * afterwards.
	 */
	void (*on_gone)(void *arg, struct keep *k);
	void *arg;
};

/* Loads the subscriptions of the folder. Fails with ERR_NOMEM, ERR_SYS, ERR_DENIED. */
int keeps_open(const struct keeps_conf *c, struct keeps **out, struct err *e);

/* Writes appended blocks, without callbacks. NULL is accepted. */
void keeps_free(struct keeps *ks);

/*
 * Handles events_open, events_ack and events_end of the parent, and ignores other messages.
 * keeps_check() returns the reason of a refusal.
 */
void keeps_take(struct keeps *ks, const struct msg *m);

/*
 * Called at the end of the daemon, when no source makes blocks. Reports the end of streams of which
 * everything is acknowledged, so that the parent need not wait for them.
 */
void keeps_say_end(struct keeps *ks);

/* Called when the parent is disconnected: nothing is sent until it opens streams again. */
void keeps_link_down(struct keeps *ks);

/* Returns NULL if there is no subscription of that name. */
struct keep *keeps_find(const struct keeps *ks, const char *name);

/*
 * Returns the subscription of that name and owner. Fails with ERR_NOTFOUND if there is none,
 * ERR_DENIED if it belongs to another owner. Fails with ERR_SYS, ERR_LIMIT if it could not be made;
 * e has the reason.
 */
int keeps_check(const struct keeps *ks, const char *name, const char *identity, struct keep **out,
		struct err *e);

void keeps_each(struct keeps *ks, void (*fn)(void *arg, struct keep *k), void *arg);

/* True if the parent has acknowledged everything, as far as this daemon knows. */
bool keeps_are_empty(const struct keeps *ks);

struct keeps_stats {
	size_t n, open; /* open: subscriptions with an open stream to the parent */
	uint64_t disk_bytes, lost_events;
};
void keeps_stats(const struct keeps *ks, struct keeps_stats *out);

/* --- one subscription */

const char *keep_name(const struct keep *k);

/*
 * Returns the last accepted events_open, in which stream and room are 0. Valid until the next one.
 */
const struct msg_events_open *keep_request(const struct keep *k);

/* Appends a block, like spooler_append(). */
int keep_append(struct keep *k, const uint8_t *p, const struct evblock *b);
uint64_t keep_appended(const struct keep *k); /* number of blocks since the start of the daemon */
bool keep_is_settled(const struct keep *k); /* true if all of them are stored */
bool keep_is_full(const struct keep *k);

/* Returns the free room on disk in bytes; appended blocks that are not stored yet do not count. */
uint64_t keep_room(const struct keep *k);

/*
 * Adds (1) or removes (-1) a source of blocks. An ending subscription ends when it has no source.
 */
void keep_feed(struct keep *k, int change);

/* Ends the subscription in this daemon, and drops its blocks. */
void keep_end(struct keep *k, const char *why);

/* Sets a pointer for the daemon. */
void keep_set_user(struct keep *k, void *user);
void *keep_user(const struct keep *k);

/* A file <name>SUFFIX beside the spool. It must not be moved. */
struct keep_file {
	struct store store; /* its path is the member below */
	char path[FILE_PATH_BYTES];
};

/* Initialises *out. Fails with ERR_LIMIT. */
int keep_store(const struct keep *k, const struct store_kind *kind, const char *suffix,
	       struct keep_file *out, struct err *e);

/* Returns the disk, and writes the path of a file on it. Fails with ERR_LIMIT. */
const struct disk *keep_disk(const struct keep *k);
int keep_path(const struct keep *k, const char *suffix, char out[FILE_PATH_BYTES], struct err *e);

bool keep_is_name(const char *s);

/* Erases the contents of a folder, which no process may have open. */
void keeps_erase(const struct disk *disk, const char *dir);

#endif
