/* SPDX-License-Identifier: Apache-2.0 */
/* For csr.c (what is armed) and csr_fire.c (what hosts say about it) alone. */
#ifndef SM_CSR_CSR_INTERNAL_H
#define SM_CSR_CSR_INTERNAL_H

#include "common/container/list.h"
#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "sm/csr/csr.h"

struct site_csrs {
	struct site_csrs_conf conf;
	struct smap by_token; /* owns struct site_csr */
	uint64_t version; /* of the last ARM that was sent */
	struct loop_timer *follow; /* owned; hosts have moved: all is split again soon */
	struct loop_timer *losses; /* owned; csr_part.c */
	struct list partings; /* owns struct parting */
	struct site_csrs_stats stats;
};

/* One branch's share. */
struct csr_part {
	uint32_t branch;
	uint32_t version;
	char *text; /* owned */
	size_t ntext;
	uint32_t local_prefix;
	bool is_waited_for; /* sent, not confirmed */
	bool is_old; /* not seen in the ARM that is being taken in */
};

struct site_csr {
	struct site_csrs *a;
	char *token, *identity; /* owned */
	uint32_t tool, version;
	bool reply;
	bool is_stale;
	char *text; /* owned; the whole, as it came from above */
	size_t ntext;
	uint32_t local_prefix;
	struct map parts; /* branch -> struct csr_part, owned */
	size_t waiting; /* parts that are waited for */
	struct reply *answer; /* owned; what is wrong; NULL once ARM_ACK was sent */
	struct loop_timer *timer; /* owned; ends the wait for confirmations */
	uint64_t dropped; /* events since the last that went up */
	char kept[TOKEN_BYTES * 2]; /* the kept subscription that it feeds; "" = none */
};

/* Disarms its hosts. */
void site_csr_end(struct site_csr *c);

/* csr_kept.c: the subscription that the blocks of that request go to; "" = none. c is the one that
 * feeds it from now on. */
const char *site_csr_kept_of(const struct omis_request *r);
void site_csr_take_place(struct site_csr *c, const char *kept);

/* All that is to be waited for has come, or nothing more will: ARM_ACK. */
void site_csr_check_answer(struct site_csr *c, bool give_up);

void csr_part_confirmed(struct site_csr *c, struct csr_part *s);
void csr_part_free(struct site_csr *c, struct csr_part *s);

/* csr_part.c */
void site_csr_lose(struct site_csr *c, uint64_t n);
void site_csrs_on_losses(void *arg);
void partings_forget(struct site_csrs *a, const struct branch *b); /* it will not answer */
void partings_free(struct site_csrs *a);

#endif
