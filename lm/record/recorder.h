/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Csrs whose blocks go to a kept subscription. One csr feeds it at a time; another one replaces it
 * without a moment in which events are off. The next lm enables the same csrs before it adopts
 * processes. So events stay on in ranks while no lm reads the rings.
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

/* To be called after csrs_free(). No error when it is not open. */
void recorder_close(struct recorder *o);

/* Enables the csrs of the earlier lm, before processes are adopted. */
void recorder_load(struct recorder *o);

/* The source of events that threads write; its `of` is a struct recorder. */
extern const struct event_source_ops record_source;

/* --- for the files of this room */

struct recorder *recorder_of(const struct csr *c);

/* Members of event_source_ops and site_ops. */
bool recorder_attach(struct event_source *source, struct csrs *s);
void recorder_detach(struct event_source *source);
struct csr *recorder_before(const struct csr *c);
bool recorder_arm(struct csr *c, const struct msg_arm *m, struct reply *r);
void recorder_leave(struct csr *c);
/* Retries to save the csr, now and then until it is on disk. */
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

/* True: an earlier lm recorded the process for this csr, and no csr does now. The rings have its
 * events, behind those that were taken. */
bool recorder_knows(const struct csr *c, const struct proc *p);

/* The site of the csr that this one replaces; NULL: there is none. */
struct events_site *recorder_site_before(const struct csr_site *s);

#endif
