/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election of Raft (Ongaro and Ousterhout, 2014, section 5.2): each term has at most one
 * leader, elected by a majority of processes. There is no log, so that a process votes for the
 * first candidate of a term.
 *
 *	raft.timeout   = 150ms..300ms   (silence before a candidacy, drawn each time)
 *	raft.heartbeat = 50ms           (of a leader)
 *	raft.quorum    = N              (votes for a leader; default: more than half)
 *	raft.settle    = 10s            (at most without a leader at the end; 0: unchecked)
 *	raft.network   = 1
 *
 * With a smaller quorum two leaders may share a term, which a run reports. raft.settle is checked
 * when most processes are up at the end.
 */
#ifndef NEKO_ALGORITHMS_RAFT_H
#define NEKO_ALGORITHMS_RAFT_H

#include "neko/core/neko.h"

#define RAFT_TYPE 920 /* content: kind of message, 1 byte, and the term, 8 bytes little-endian */

/* Events; content: the term. */
#define RAFT_CANDIDATE "candidate"
#define RAFT_LEADER "leader"
#define RAFT_FOLLOW "follow" /* a message of the leader of that term was received */
#define RAFT_RESIGN "resign" /* a leader has received a message of a later term */

int raft_init(struct neko_process *p, struct setup *s, struct err *e);

/*
 * election: time from a candidacy to its success. failover: time from a leader's crash until a
 * majority follows the next leader. terms: number of terms from one such leader to the next. led:
 * fraction of a run in which a majority follows a leader. Checks that each term has one leader.
 */
extern const struct neko_measure raft_measure;

#endif
