/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemons below mainsm: an sm for a site, or an lm that no sm serves.
 * Each has a number, as planning uses it; a number is given again only after
 * everybody was told that its child is gone.
 */
#ifndef MAINSM_DIRECTORY_BRANCHES_H
#define MAINSM_DIRECTORY_BRANCHES_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/net/identity.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAINSM_BRANCHES_MAX 4096 /* sites, and hosts that no site serves */

struct link;

struct mainsm_branch {
	uint32_t index;
	struct link *link; /* borrowed */
	enum role role; /* ROLE_SM or ROLE_LM */
	char site[NAME_MAX_BYTES + 1];
	char token[16]; /* what it stands for: s_N or n_N */
	uint32_t number; /* N */
};

struct mainsm_branches;

struct mainsm_branches *mainsm_branches_new(void);
void mainsm_branches_free(struct mainsm_branches *c);

/* A child for that token; an older one of the same token must have been removed. ERR_LIMIT,
 * ERR_NOMEM. */
int mainsm_branches_add(struct mainsm_branches *c, const struct mainsm_branch *what,
			struct mainsm_branch **out);
void mainsm_branches_remove(struct mainsm_branches *c, struct mainsm_branch *child);

/* NULL for a number that nobody has. */
struct mainsm_branch *mainsm_branches_at(const struct mainsm_branches *c, uint32_t index);
struct mainsm_branch *mainsm_branches_find(const struct mainsm_branches *c, const char *token);

/* All numbers are below this. */
uint32_t mainsm_branches_bound(const struct mainsm_branches *c);
size_t mainsm_branches_count(const struct mainsm_branches *c);

/* As link_send(), but one that does not read (-ERR_AGAIN) is cut. -ERR_CLOSED when nobody has that
 * number. */
int mainsm_branches_send(const struct mainsm_branches *c, uint32_t index, const struct msg *m);
void mainsm_branches_send_all(const struct mainsm_branches *c, const struct msg *m);

/* The token, for texts and coverage; "?" for nobody. */
const char *mainsm_branches_name(const struct mainsm_branches *c, uint32_t index);

#endif
