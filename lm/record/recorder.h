/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests whose blocks go to a kept subscription. One feeds it at a time: another one
 * takes its place without a moment in which events are off. The next lm arms the same requests
 * before it looks at what runs. So events go on while no lm takes them out of the rings.
 */
#ifndef LM_RECORD_RECORDER_H
#define LM_RECORD_RECORDER_H

#include "eventlog/keep/keeps.h"
#include "lm/csr/csr_internal.h"
#include "lm/record/ring_cursor.h"

struct events_site;

/* Makes the blocks of kept subscriptions; in place, all 0 at the beginning. */
struct recorder {
	const char *host_name; /* borrowed; set by the owner */
	struct keeps *keeps; /* from recorder_open() on */
	struct csrs *csrs; /* while there are some */
};

/* Opens the subscriptions, with callbacks of its own. As keeps_open(). */
int recorder_open(struct recorder *o, const struct keeps_conf *c, struct err *e);

/* Behind csrs_free(). Harmless when it is not open. */
void recorder_close(struct recorder *o);

/* Arms what an lm before us had armed; before processes are taken in. */
void recorder_load(struct recorder *o);

/* Of events that threads write; of: struct recorder. */
extern const struct event_source_ops record_source;

/* --- for the files of this room */

struct recorder *recorder_of(const struct csr *c);

/* As event_source_ops and site_ops say. */
bool recorder_attach(struct event_source *source, struct csrs *s);
void recorder_detach(struct event_source *source);
struct csr *recorder_before(const struct csr *c);
bool recorder_arm(struct csr *c, const struct msg_arm *m, struct reply *r);
void recorder_leave(struct csr *c);
/* What the disk did not take when it was armed, now and then until it does. */
void recorder_save_again(struct csr *c, nsec_t now);
bool recorder_goes_on(const struct csr *c, struct proc *p);

/* The subscription of that name and this owner; "": *out is NULL. Negative: an entry says why there
 * is none. */
int recorder_find(const struct csr *c, const char *name, struct keep **out, struct reply *r);

/*
 * One block that was made here. What finds no room is lost, and the next one of its stream says so.
 */
void recorder_append(struct keep *k, const uint8_t *block);

/* What is remembered of its streams; NULL: nothing is. A row for a new one; NULL: none. */
struct ring_cursors *recorder_cursors(const struct csr *c);
struct ring_cursor *recorder_cursor(const struct csr_site *s, unsigned thread, uint64_t stream);

/* It was taken from that process for it, by an lm before us, and no request does so now: what is in
 * the rings is its own, behind what that one had taken. */
bool recorder_knows(const struct csr *c, const struct proc *p);

/* Of the request whose place it takes; NULL: there is none. */
struct events_site *recorder_site_before(const struct csr_site *s);

#endif
