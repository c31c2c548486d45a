/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How processes come to be watched. They hand over their segment through a socket when they start.
 * An lm that starts later finds the segments of those that run already. Those that have none are
 * found by their environment (chosen.h). Processes of other users are refused.
 */
#ifndef LM_ATTACH_REGISTRATION_H
#define LM_ATTACH_REGISTRATION_H

#include "lm/proc/proc.h"

/*
 * For the one message of a process that has connected. A rank may be put aside between the two:
 * batch systems suspend, hosts swap. A refused one stays unseen. A silent one costs a descriptor,
 * and the next define bounds those.
 */
#define REGISTRATION_WAIT_NS (30 * NSEC_PER_SEC)
#define REGISTRATION_WAITING_MAX 64 /* connected and silent; the oldest goes */
#define REGISTRATION_SPARE_FDS 6 /* for one that registers: segment, pidfd, looks into /proc */
/* a segment that is not ready yet is looked at again */
#define REGISTRATION_RETRY_NS (100 * NSEC_PER_MSEC)
#define REGISTRATION_RETRIES_MAX 50
#define REGISTRATION_UNREADY_MAX 64 /* not ready; the oldest is refused */

struct registration;

struct registration_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs; /* all borrowed */
	const char *socket; /* path in a private directory; copied. NULL: no socket (tests) */
	/*
	 * that socket, listening already, inherited from the process that started us; becomes the
	 * registration's. 0: it makes one
	 */
	int listener;
	/* name of segments: omig-<caid>; copied. The CA is that of the chosen ones, too */
	const char *memfd;
	uid_t uid; /* ours */
	/* Something was not taken in: once a case, in words for people. */
	void (*refused)(void *arg, int32_t pid, const struct err *why);
	void *arg;
};

/*
 * Listens. A socket that an lm before us has left is taken away: the caller holds the lock.
 * ERR_SYS, ERR_LIMIT; ERR_INVALID: the listener is another socket, and is still the caller's.
 */
int registration_open(const struct registration_conf *c, struct registration **out, struct err *e);

/* Those that have connected by now, as far as there are descriptors. */
void registration_take_waiting(struct registration *n);

/*
 * New processes no longer find the socket. Those that had connected wait:
 * registration_take_waiting().
 */
void registration_withdraw(struct registration *n);

/* A descriptor of the socket, inherited by programs that this one becomes: for its registration.
 * -1: there is none. */
int registration_pass(struct registration *n);

/* Removes the socket, unless it was withdrawn or passed on. */
void registration_close(struct registration *n);

/*
 * Takes in the processes that have registered by now, and looks for segments of those that run
 * already. Blocks for one pass over /proc. Returns how many that pass has taken in.
 */
size_t registration_adopt(struct registration *n);

/*
 * Takes in the segment behind *fd, which is consumed, for process pid. adopted: another lm may have
 * had it before. -ERR_AGAIN: not ready; it is tried again by itself.
 */
int registration_segment(struct registration *n, int fd, int32_t pid, bool adopted);

/* There are no descriptors for more processes: they wait, connected, and are tried again by
 * itself. */
bool registration_is_resting(const struct registration *n);

struct registration_stats {
	uint64_t taken, refused, adopted;
};
void registration_stats(const struct registration *n, struct registration_stats *out);

#endif
