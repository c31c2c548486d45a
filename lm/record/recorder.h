/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Csrs whose blocks are stored in a subscription. One csr feeds it at a time. A replacement takes
 * over without a moment in which events are off. The next lm enables the same csrs before it adopts
 * processes. So events stay on in the ranks while no lm reads the rings.
 */
#ifndef LM_RECORD_RECORDER_H
#define LM_RECORD_RECORDER_H

#include "eventlog/keep/keeps.h"
#include "lm/csr/csr_internal.h"
#include "lm/record/ring_cursor.h"

struct events_site;

/* Makes the blocks of stored subscriptions. Part of its owner; initially all 0. */
struct recorder {
	const char *host_name; /* borrowed; set by the owner */
	struct keeps *keeps; /* from recorder_open() on */
	struct csrs *csrs; /* while there are some */
};

/* Opens the subscriptions. As keeps_open(). */
int recorder_open(struct recorder *o, const struct keeps_conf *c, struct err *e);

/* Must be called after csrs_free(). No effect if it is not open. */
void recorder_close(struct recorder *o);

/* Enables the csrs of the earlier lm. Called before processes are adopted. */
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
/* Retries to save the csr at intervals until it is on disk. */
void recorder_save_again(struct csr *c, nsec_t now);
bool recorder_goes_on(const struct csr *c, struct proc *p);

/*
 * Finds the owner's subscription of that name; "": *out is NULL. Negative: an entry has the reason.
 */
int recorder_find(const struct csr *c, const char *name, struct keep **out, struct reply *r);

/*
 * Appends one block made on this host. If it does not fit it is lost, and the next block of its
 * stream reports the loss.
 */
void recorder_append(struct keep *k, const uint8_t *block);

/*
 * Returns the stored cursors of its streams; NULL: none. Adds a row for a new stream; NULL: no
 * room.
 */
struct ring_cursors *recorder_cursors(const struct csr *c);
struct ring_cursor *recorder_cursor(const struct csr_site *s, unsigned thread, uint64_t stream);

/*
 * True if an earlier lm recorded the process for this csr, and no csr does now. The rings contain
 * its events after the last one taken.
 */
bool recorder_knows(const struct csr *c, const struct proc *p);

/* Returns the site of the csr that this one replaces; NULL: there is none. */
struct events_site *recorder_site_before(const struct csr_site *s);

#endif
