/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that outlive a restart: of sites and nodes by name, and counters that never give a number
 * twice. Their upper part counts the starts of mainsm.
 */
#ifndef MAINSM_DIRECTORY_NUMBERS_H
#define MAINSM_DIRECTORY_NUMBERS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* sites and nodes ever seen: a host that never comes back costs a line */
#define NUMBERS_NAMES_MAX 131072

enum number_kind { NUMBER_CSR, NUMBER_EVENT, NUMBER_PA, NUMBER_TOOL, NUMBER_DFG, NUMBER_KINDS };

struct disk;
struct numbers;

/* dir: the state directory; the boot count in it is increased. NULL = memory only. disk: borrowed,
 * NULL = the system's. ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM. */
int numbers_open(const struct disk *disk, const char *dir, struct numbers **out, struct err *e);
void numbers_free(struct numbers *n);

/* The number of that name, minted when it is new. From 1. -ERR_LIMIT, -ERR_NOMEM. */
int numbers_site(struct numbers *n, const char *site, uint32_t *out);
int numbers_node(struct numbers *n, const char *site, const char *host, uint32_t *out);

/* Sites that were ever seen, before a restart too. */
uint32_t numbers_sites(const struct numbers *n);

/* Never the same twice for a kind. */
uint64_t numbers_mint(struct numbers *n, enum number_kind kind);

/* True when names were added since the last flush; numbers_flush writes them. */
bool numbers_is_dirty(const struct numbers *n);
int numbers_flush(struct numbers *n, struct err *e);

#endif
