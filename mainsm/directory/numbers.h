/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that outlive a restart: of sites and nodes by name, and counters that never repeat a
 * number. Their upper part counts the starts of mainsm.
 */
#ifndef MAINSM_DIRECTORY_NUMBERS_H
#define MAINSM_DIRECTORY_NUMBERS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* sites and nodes ever seen: a host that never returns costs a line */
#define NUMBERS_NAMES_MAX 131072

enum number_kind { NUMBER_CSR, NUMBER_EVENT, NUMBER_PA, NUMBER_TOOL, NUMBER_DFG, NUMBER_KINDS };

struct disk;
struct numbers;

/*
 * dir: the state directory; increments its boot count. NULL = memory only. disk: borrowed, NULL =
 * the system's. ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int numbers_open(const struct disk *disk, const char *dir, struct numbers **out, struct err *e);
void numbers_free(struct numbers *n);

/* Returns the number of that name; a new name gets a new one, from 1. -ERR_LIMIT, -ERR_NOMEM. */
int numbers_site(struct numbers *n, const char *site, uint32_t *out);
int numbers_node(struct numbers *n, const char *site, const char *host, uint32_t *out);

/* Returns the number of sites ever seen, also before a restart. */
uint32_t numbers_sites(const struct numbers *n);

/* Returns a number that is unique for its kind. */
uint64_t numbers_mint(struct numbers *n, enum number_kind kind);

/* True if names were added since the last flush; numbers_flush writes them. */
bool numbers_is_dirty(const struct numbers *n);
int numbers_flush(struct numbers *n, struct err *e);

#endif
