/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that recorders write into logs. These are all of them; interaction/weave makes networks of
 * them. Ids are int64, from 1 on; other numbers are int32.
 *
 *	interaction.send      new, to, uncertain         message `new` leaves this thread
 *	interaction.sent      message, to, uncertain     the send of `message`, the thread's last
 *							 event, has returned late
 *	interaction.wait                                 a call of this thread begins to wait
 *	interaction.receive   with, from, uncertain      message `with` is in
 *	interaction.meet      call, ranks, role          a collective call of so many ends; it began
 *						         at the thread's last wait. role: 1 others
 *						         depend on it, 2 it on others; 4: uncertain
 *
 * Those of programs without MPI. A process is known by its first thread:
 *
 *	interaction.spawn     child                      process `child` begins
 *	interaction.exec                                 the process goes on as another program
 *	interaction.exit                                 it ends
 *	interaction.reap      child                      the thread knows that `child` has ended
 *	interaction.write     stream, end, uncertain     bytes up to `end` leave
 *	interaction.read      stream, end, uncertain, unsent
 *						         bytes up to `end` are in. unsent: nothing
 *						         that is recorded has written them
 *
 * `uncertain` is 1 when another message may have the id. The thread of an event is known by HOST,
 * pid and tid. Its label is the rank, else PROG. Two probes of one region (common/ring/region.h)
 * are the begin and end of its use. So are NAME.start and NAME.end, or NAME.begin and NAME.end.
 */
#ifndef INTERACTION_FORM_NETTHREAD_H
#define INTERACTION_FORM_NETTHREAD_H

#include "common/container/map.h"
#include "eventlog/evread.h"
#include "interaction/weave/netweave.h"

#define NETTHREAD_NAMES_MAX 65536 /* names of events that are not vertices */

enum { NETTHREAD_UNCERTAIN = 4 }; /* a bit of `role` beside those of enum netweave_role */

struct netthread {
	const char *at; /* steps or requests: a region's name, BEGIN..END, or one event; NULL */
	struct smap names; /* of events -> struct netthread_name */
	struct netweave_event event; /* the last one */
	struct netweave_thread thread; /* its node is the caller's */
	char node[NAME_MAX_BYTES + 1];
	char job[NAME_MAX_BYTES + 1];
};

void netthread_init(struct netthread *r, const char *at);
void netthread_done(struct netthread *r);

/*
 * Returns 1: r->event and r->thread are set. 0: another event, such as an explicit vertex.
 * ERR_INVALID: e has the reason; ERR_LIMIT, ERR_NOMEM.
 */
int netthread_read(struct netthread *r, const struct event *ev, struct err *e);

/* Sets only r->thread and r->node, for an explicit vertex. */
void netthread_find(struct netthread *r, const struct event *ev);

/* True for an event of a recorder, which shows that the log has more than regions. */
static inline bool netthread_is_recorded(const struct netthread *r)
{
	return r->event.kind <= NETWEAVE_MEET;
}

#endif
