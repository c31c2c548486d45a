/* SPDX-License-Identifier: Apache-2.0 */
/* For arms.c (what is armed) and arms_fire.c (what hosts say about it) alone. */
#ifndef SM_CSR_CSR_INTERNAL_H
#define SM_CSR_CSR_INTERNAL_H

#include "common/base/list.h"
#include "common/base/map.h"
#include "common/omis/reply.h"
#include "sm/csr/csr.h"

struct arms {
	struct arms_conf conf;
	struct smap by_token; /* owns struct csr */
	uint64_t version; /* of the last ARM that was sent */
	struct loop_timer *follow; /* owned; hosts have moved: all is split anew soon */
	struct loop_timer *losses; /* owned; arms_part.c */
	struct list partings; /* owns struct parting */
	struct arms_stats stats;
};

/* One branch's share. */
struct share {
	uint32_t branch;
	uint32_t version;
	char *text; /* owned */
	size_t ntext;
	uint32_t local_prefix;
	bool is_waited_for; /* sent, not confirmed */
	bool is_old; /* not seen in the ARM that is being taken in */
};

struct csr {
	struct arms *a;
	char *token, *identity; /* owned */
	uint32_t tool, version;
	bool reply;
	bool is_stale;
	char *text; /* owned; the whole, as it came from above */
	size_t ntext;
	uint32_t local_prefix;
	struct map shares; /* branch -> struct share, owned */
	size_t waiting; /* shares that are waited for */
	struct reply *answer; /* owned; what is wrong; NULL once ARM_ACK was sent */
	struct loop_timer *timer; /* owned; ends the wait for confirmations */
	uint64_t dropped; /* events since the last that went up */
	char kept[TOKEN_BYTES * 2]; /* the kept subscription that it feeds; "" = none */
};

/* Hosts are told. */
void csr_end(struct csr *c);

/* arms_kept.c: the subscription that the blocks of that request go to; "" = none. c is the one that
 * feeds it from now on. */
const char *csr_kept_of(const struct omis_request *r);
void csr_take_place(struct csr *c, const char *kept);

/* All that is to be waited for has come, or nothing more will: ARM_ACK. */
void csr_check_answer(struct csr *c, bool give_up);

void share_confirmed(struct csr *c, struct share *s);
void share_free(struct csr *c, struct share *s);

/* arms_part.c */
void csr_lose(struct csr *c, uint64_t n);
void arms_on_losses(void *arg);
void partings_forget(struct arms *a, const struct branch *b); /* it will not answer */
void partings_free(struct arms *a);

#endif
