/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration of processes. A process sends its segment through a socket when it starts. An lm
 * that starts later finds the segments of running processes. Processes without a segment are found
 * by their environment (chosen.h). Those of other users are refused.
 */
#ifndef LM_ATTACH_REGISTRATION_H
#define LM_ATTACH_REGISTRATION_H

#include "lm/proc/proc.h"

/*
 * Time from a connection to its only message. A batch system may suspend a rank between the two, or
 * the rank may be swapped out. A process that is refused stays unwatched. A silent connection costs
 * a descriptor; the next constant bounds them.
 */
#define REGISTRATION_WAIT_NS (30 * NSEC_PER_SEC)
#define REGISTRATION_WAITING_MAX 64 /* silent connections; the oldest is closed */
#define REGISTRATION_SPARE_FDS 6 /* for one registration: segment, pidfd, files of /proc */
/* interval between examinations of a segment that is not ready */
#define REGISTRATION_RETRY_NS (100 * NSEC_PER_MSEC)
#define REGISTRATION_RETRIES_MAX 50
#define REGISTRATION_UNREADY_MAX 64 /* limit of incomplete ones; the oldest is refused */
#define REGISTRATION_VERSIONS_MAX 8 /* reported other builds: upgrades under one lm */

struct registration;

struct registration_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs; /* all borrowed */
	const char *socket; /* path in a private directory; copied. NULL: no socket (tests) */
	/* a listening socket inherited from the parent process; owned from now on. 0: create one */
	int listener;
	/* name of segments: omig-<caid>; copied. Chosen processes belong to the same CA */
	const char *memfd;
	uid_t uid; /* of the lm */
	/*
	 * A process was refused: once for each, with the reason for the log. For processes with
	 * another version of the segment it is called once for each version; if they were found,
	 * the reason has their number.
	 */
	void (*refused)(void *arg, int32_t pid, const struct err *why);
	void *arg;
};

/*
 * Listens. Removes a socket that an earlier lm has left: the caller holds the lock. ERR_SYS,
 * ERR_LIMIT; ERR_INVALID: the listener is another socket and still belongs to the caller.
 */
int registration_open(const struct registration_conf *c, struct registration **out, struct err *e);

/* Accepts the processes that have connected so far, as descriptors permit. */
void registration_take_waiting(struct registration *n);

/*
 * Removes the socket's name, so that new processes do not find it. Processes that have connected
 * wait for registration_take_waiting().
 */
void registration_withdraw(struct registration *n);

/*
 * Returns a descriptor of the socket, inherited by the next program that this process executes. -1:
 * there is none.
 */
int registration_pass(struct registration *n);

/* Removes the socket, unless it was withdrawn or passed on. */
void registration_close(struct registration *n);

/*
 * Adopts the processes that have registered so far, and finds segments of running processes. Blocks
 * for one pass over /proc. Returns how many that pass has adopted.
 */
size_t registration_adopt(struct registration *n);

/*
 * Registers the segment behind fd, which is consumed, for process pid. adopted: an earlier lm may
 * have had it. -ERR_AGAIN: it is not ready, and is retried automatically.
 */
int registration_segment(struct registration *n, int fd, int32_t pid, bool adopted);

/*
 * True if descriptors are short. Further processes wait, connected, and are retried automatically.
 */
bool registration_is_resting(const struct registration *n);

struct registration_stats {
	uint64_t taken, refused, adopted;
	uint64_t of_other_builds; /* refused processes whose segment has another version */
};
void registration_stats(const struct registration *n, struct registration_stats *out);

#endif
