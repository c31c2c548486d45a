/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests whose blocks go to a kept subscription. One feeds it at a time: another one
 * takes the place of the one before without a moment in which events are off. What is armed so is
 * armed by the next lm, too, before it looks at what runs, so that events go on while nobody is
 * there to take them out of the rings.
 */
#ifndef LM_CSR_KEEP_H
#define LM_CSR_KEEP_H

#include "eventlog/keep/keeps.h"
#include "lm/csr/csr_internal.h"
#include "lm/csr/keeprows.h"

struct events_site;

/* The subscription of that name and this owner; "": *out is NULL. Negative: an entry says why there
 * is none. */
int csr_keep_find(const struct csr *c, const char *name, struct keep **out, struct reply *r);

/* One block that was made here. What finds no room is lost, and the next one of its stream
 * tells. */
void csr_keep_append(struct keep *k, const uint8_t *block);

/* What is remembered of its streams; NULL: nothing is. A row for a new one; NULL: none. */
struct keeprows *csr_keep_rows(const struct csr *c);
struct keeprow *csr_keep_row(const struct csr_site *s, unsigned thread, uint64_t stream);

/* It was taken from that process for it, by an lm before us, and no request does so now: what is in
 * the rings is its own, behind what that one had taken. */
bool csr_keep_goes_on(const struct csr *c, const struct proc *p);
void csr_keep_skip(const struct csr *c, struct proc *p);

/* What the rings have is its own, before it goes. */
void csr_keep_drain(struct csr *c);

/* For keeps_conf: opens what is remembered; notes what is given; and tells, once all is known, what
 * lms before us have lost. */
void csr_keep_made(struct keep *k);
void csr_keep_given(struct keep *k, const uint8_t *p, size_t n);
void csr_keep_tell_losses(void *unused, struct keep *k);

/* Another request that feeds the same; NULL: none does. */
struct csr *csr_keep_before(const struct csr *c);
struct events_site *csr_keep_site_before(const struct csr_site *s);

/* Armed: the next lm shall do it, too. */
void csr_keep_save(const struct csr *c, const struct msg_arm *m);
void csr_keep_forget(const struct csr *c);

/* What an lm before us had armed; before processes are taken in. */
void csrs_keep_load(struct csrs *s);

/* No more is made for it: those above may have nobody left to disarm what feeds it. */
void csrs_keep_end(struct csrs *s, struct keep *k);

/* The subscription is over. */
void csrs_keep_gone(struct csrs *s, struct keep *k);

/* Its room is used up, and by its policy its sources make no more but count what they would have
 * made; or it is free again. */
void csrs_keep_full(struct csrs *s, struct keep *k, bool is_full);

#endif
