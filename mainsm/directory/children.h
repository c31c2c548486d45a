/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemons below mainsm: an sm for a site, or an lm that no sm serves.
 * Each has a number, as planning uses it; a number is given again only after
 * everybody was told that its child is gone.
 */
#ifndef MAINSM_DIRECTORY_CHILDREN_H
#define MAINSM_DIRECTORY_CHILDREN_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/net/identity.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHILDREN_MAX 4096 /* sites, and hosts that no site serves */

struct link;

struct child {
	uint32_t index;
	struct link *link; /* borrowed */
	enum role role; /* ROLE_SM or ROLE_LM */
	char site[NAME_MAX_BYTES + 1];
	char token[16]; /* what it stands for: s_N or n_N */
	uint32_t number; /* N */
};

struct children;

struct children *children_new(void);
void children_free(struct children *c);

/* A child for that token; an older one of the same token must have been removed. ERR_LIMIT,
 * ERR_NOMEM. */
int children_add(struct children *c, const struct child *what, struct child **out);
void children_remove(struct children *c, struct child *child);

/* NULL for a number that nobody has. */
struct child *children_at(const struct children *c, uint32_t index);
struct child *children_find(const struct children *c, const char *token);

/* All numbers are below this. */
uint32_t children_bound(const struct children *c);
size_t children_count(const struct children *c);

/* As link_send(), but one that does not read (-ERR_AGAIN) is cut. -ERR_CLOSED when nobody has that
 * number. */
int children_send(const struct children *c, uint32_t index, const struct msg *m);
void children_send_all(const struct children *c, const struct msg *m);

/* The token, for texts and coverage; "?" for nobody. */
const char *children_name(const struct children *c, uint32_t index);

#endif
