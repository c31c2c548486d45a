/* SPDX-License-Identifier: Apache-2.0 */
/* For csr.c (armed csrs) and csr_fire.c (reports of hosts) only. */
#ifndef SM_CSR_CSR_INTERNAL_H
#define SM_CSR_CSR_INTERNAL_H

#include "common/container/list.h"
#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "common/omis/text/token.h"
#include "sm/csr/csr.h"
#include "tree/parting.h"
#include "tree/standing.h"

/* A csr that has ended, until the branches have replied. */
struct site_parting {
	struct parting parting;
	struct site_csrs *a;
	struct token token;
	uint64_t dropped;
	bool is_begun; /* all branches have DISARM */
};

struct site_csrs {
	struct site_csrs_conf conf;
	struct smap by_token; /* owns struct site_csr */
	uint32_t version; /* version of the last ARM that was sent */
	struct loop_timer *follow; /* owned; hosts have moved: all is split again soon */
	struct loop_timer *losses; /* owned; csr_part.c */
	struct partings partings; /* of struct site_parting, owned */
	struct site_csrs_stats stats;
};

struct site_csr {
	struct site_csrs *a;
	char *token, *identity; /* owned */
	uint32_t tool, version;
	bool reply;
	bool is_stale;
	char *text; /* owned; the whole request from the parent */
	size_t ntext;
	uint32_t local_prefix;
	struct standing *standing; /* branches that get DISARM; NULL = none */
	struct site_parting *parting; /* owned; errors; NULL once ARM_ACK was sent */
	struct reply *answer; /* owned; faults; NULL once ARM_ACK was sent */
	uint64_t dropped; /* events since the last report to the parent */
	char kept[TOKEN_BYTES * 2]; /* the stored subscription that it feeds; "" = none */
};

/* Sends ARM_ACK if all awaited confirmations have arrived, or no more will arrive. */
void site_csr_check_answer(struct site_csr *c);

/* csr_part.c */
void site_csr_lose(struct site_csr *c, uint64_t n);
void site_csrs_on_losses(void *arg);
int site_csrs_report_losses(struct site_csrs *a, const char *csr, uint64_t n, bool is_last);

/* Returns NULL without memory. */
struct site_parting *site_parting_new(struct site_csrs *a, const char *token, uint64_t dropped);
/* All branches have got DISARM. May free it. */
void site_parting_begin(struct site_parting *p);
void site_partings_free(struct site_csrs *a);

#endif
