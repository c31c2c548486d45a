/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAINSM_REGISTRY_REGISTRY_INTERNAL_H
#define MAINSM_REGISTRY_REGISTRY_INTERNAL_H

#include "common/container/list.h"
#include "common/store/store.h"
#include "mainsm/registry/registry.h"

/* A text of one principal. */
struct registered {
	struct list link;
	char *principal, *name, *text; /* owned */
	uint32_t version;
	int64_t added; /* ns since 1970 */
	char **metric; /* owned: names of its metrics */
	size_t nmetric;
	unsigned mark; /* number of the last walk that reached this text */
	bool is_placed; /* that walk has added it to its result */
};

#define PLUGGED_PRINCIPAL "*plug-ins" /* no identity has that name */

struct registry {
	struct registry_conf conf;
	unsigned plugged; /* version of the services of plug-ins that `all` has the metrics of */
	struct list all; /* struct registered, in the order in which their names were first added */
	size_t n, bytes;
	unsigned walk;
	char *path; /* owned; NULL: in memory only */
	struct store store;
};

struct registered *registered_new(const char *principal, const struct registry_text *t);
void registered_free(struct registered *x);

/* Notes the names of its metrics. -ERR_NOMEM. */
int registered_note_metrics(struct registered *x);

/* --- plugged.c: makes the texts of plug-ins again, if these have changed */
void registry_refresh(struct registry *r);

/* --- registry_file.c */

int registry_load(struct registry *r, struct err *e);
int registry_save(struct registry *r, struct err *e);

#endif
