/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kept subscriptions of a daemon (docs/protocol.md, events_open). Each has a name, an owner, a
 * spool of its own and a lease. What is appended goes up, under the opening that those above made
 * last, until they acknowledge it. It outlives the daemon's death. Nothing here waits for a disk
 * but the end of a subscription.
 *
 * A folder has <name>/, the spool, and <name>.sub, the last events_open that was accepted for it.
 */
#ifndef EVENTLOG_KEEP_KEEPS_H
#define EVENTLOG_KEEP_KEEPS_H

#include "common/base/file.h"
#include "common/loop/loop.h"
#include "common/store/store.h"
#include "eventlog/evblock.h"
#include "proto/msg.h"

#include <stdbool.h>

#define KEEPS_MAX 16 /* a thread each */
#define KEEP_MIN_BYTES (UINT64_C(2) << 20) /* of one on a disk */
#define KEEP_MAX_BYTES (UINT64_C(4) << 30)
#define KEEPS_MAX_BYTES (UINT64_C(16) << 30) /* of all of them */
/* of a process that serves many users: a thread each, with what waits for the disk in memory */
#define KEEPS_ALL_MAX 256
/* of such a process: what the disk of a site's sm has for all users */
#define KEEPS_ALL_MAX_BYTES (UINT64_C(64) << 30)
#define KEEP_LEASE_MIN_S 10
#define KEEP_LEASE_MAX_S 86400
#define KEEP_ROOM_MAX 16 /* messages of half a MiB on their way, even if more are requested */
#define KEEP_COMMIT_NS (20 * NSEC_PER_MSEC) /* blocks are made sure of together */

struct keep;
struct keeps;
struct spooler_turns;

/* Of all struct keeps of a process that has several. Zero-initialise. */
struct keeps_all {
	size_t n;
	uint64_t bytes; /* that they may have on disk */
};

struct keeps_conf {
	struct loop *loop; /* borrowed */
	const char *dir; /* made when it is needed; NULL: nothing can be kept */
	const struct disk *disk; /* of all of it; borrowed; NULL: the system's */
	uint64_t max_bytes; /* of all of them; 0 = KEEPS_MAX_BYTES */
	struct keeps_all *all; /* borrowed; NULL: there are no others */
	const struct spooler_turns *turns; /* of all spools; borrowed; NULL: a thread each */
	/* whatever the policy: the caller checks keep_room() before it appends, and can wait */
	bool loses_nothing;
	/* up; what is not sent comes with the next opening */
	int (*send)(void *arg, const struct msg *m);
	void *send_arg;
	/* All are called from the loop or from keeps_take(), and may be NULL. */
	/* It is new, or those above said something of it. */
	void (*on_request)(void *arg, struct keep *k);
	/* so many are safe, from the first */
	void (*on_settled)(void *arg, struct keep *k, uint64_t appended);
	/* a policy of stopping: make no more; go on */
	void (*on_full)(void *arg, struct keep *k, bool is_full);
	/* it is here now, from the disk too; nothing is in it yet */
	void (*on_made)(void *arg, struct keep *k);
	/* Blocks are about to go up; or are found on the disk at the start. */
	void (*on_given)(void *arg, struct keep *k, const uint8_t *p, size_t n);
	/* it is over, or could not be made behind on_made; k is dead behind this */
	void (*on_gone)(void *arg, struct keep *k);
	void *arg;
};

/* Takes up what the folder has. ERR_NOMEM, ERR_SYS, ERR_DENIED. */
int keeps_open(const struct keeps_conf *c, struct keeps **out, struct err *e);

/* What is appended is written; no callback. NULL is fine. */
void keeps_free(struct keeps *ks);

/* events_open, events_ack, events_end from above; others are passed over. Why one is refused is
 * found with keeps_check(). */
void keeps_take(struct keeps *ks, const struct msg *m);

/* The daemon ends, and no source makes blocks. Where all is safe above, those there need not
 * wait for it. */
void keeps_say_end(struct keeps *ks);

/* Those above are gone: nothing can be sent until they open again. */
void keeps_link_down(struct keeps *ks);

/* NULL: none of that name. */
struct keep *keeps_find(const struct keeps *ks, const char *name);

/*
 * The one of that name and owner. ERR_NOTFOUND: there is none; ERR_DENIED: it is another's;
 * ERR_SYS, ERR_LIMIT: it could not be made, and e says why.
 */
int keeps_check(const struct keeps *ks, const char *name, const char *identity, struct keep **out,
		struct err *e);

void keeps_each(struct keeps *ks, void (*fn)(void *arg, struct keep *k), void *arg);

/* All that was appended is safe above, as far as is known. */
bool keeps_are_empty(const struct keeps *ks);

struct keeps_stats {
	size_t n, open; /* open: something may go up */
	uint64_t disk_bytes, lost_events;
};
void keeps_stats(const struct keeps *ks, struct keeps_stats *out);

/* --- one of them */

const char *keep_name(const struct keep *k);

/* The last events_open that was accepted; its stream and room are 0. Valid until the next one. */
const struct msg_events_open *keep_request(const struct keep *k);

/* As spooler_append(). */
int keep_append(struct keep *k, const uint8_t *p, const struct evblock *b);
uint64_t keep_appended(const struct keep *k); /* so many, since the daemon was started */
bool keep_is_settled(const struct keep *k); /* all of them are safe */
bool keep_is_full(const struct keep *k);

/* Bytes that it has room for on disk; what was appended and is not safe yet does not count. */
uint64_t keep_room(const struct keep *k);

/* One more that makes blocks for it (1), or one less (-1). One that is ending ends when there is
 * none. */
void keep_feed(struct keep *k, int change);

/* Ends it here: what is kept is thrown away. */
void keep_end(struct keep *k, const char *why);

/* Of the daemon. */
void keep_set_user(struct keep *k, void *user);
void *keep_user(const struct keep *k);

/* A file beside it, <name>SUFFIX; in place. */
struct keep_file {
	struct store store; /* its path is the one below */
	char path[FILE_PATH_BYTES];
};

/* ERR_LIMIT. */
int keep_store(const struct keep *k, const struct store_kind *kind, const char *suffix,
	       struct keep_file *out, struct err *e);

/* That disk, and the path of a file on it. ERR_LIMIT. */
const struct disk *keep_disk(const struct keep *k);
int keep_path(const struct keep *k, const char *suffix, char out[FILE_PATH_BYTES], struct err *e);

bool keep_is_name(const char *s);

/* Erases all of a folder, which no process has open. */
void keeps_erase(const struct disk *disk, const char *dir);

#endif
