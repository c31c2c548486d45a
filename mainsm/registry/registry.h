/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics that users have added to their monitor: texts of the metric language, by name. A later
 * text may use their metrics, and a measurement may be of one of them.
 *
 * Each belongs to a principal (common/net/identity.h), and is visible to that principal alone: two
 * users may have metrics of the same names. A text that replaces another has the next version.
 * What is added or removed survives the end of the daemon and of the machine (common/store).
 *
 * What others use stays whole: neither a removal nor a new version may break a text that uses it.
 * A measurement under way keeps the version that it began with.
 */
#ifndef MAINSM_REGISTRY_REGISTRY_H
#define MAINSM_REGISTRY_REGISTRY_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/omis/text/value.h"
#include "common/store/disk.h"
#include "pmsl/pmsl.h"

struct registry;

struct registry_conf {
	const struct disk *disk; /* borrowed; NULL: the system's */
	const char *dir; /* the folder of its file; NULL: nothing lasts */
	int64_t (*wall_now)(void *arg); /* ns since 1970 */
	void *arg;
};

/* ERR_NOMEM; ERR_SYS and others when its file cannot be read. A damaged one is *.bad from then on.
 */
int registry_open(const struct registry_conf *c, struct registry **out, struct err *e);
void registry_free(struct registry *r);

/* A text that is to be added. */
struct registry_text {
	const char *name, *text;
};

/*
 * Adds or replaces that text of a principal. ERR_INVALID with diagnoses, or with what it breaks, in
 * `why`; ERR_LIMIT; ERR_SYS when it cannot be kept: nothing has changed then.
 */
int registry_add(struct registry *r, const char *principal, const struct registry_text *t,
		 uint32_t *version, struct buf *why);

/* ERR_NOTFOUND; ERR_INVALID: `why` names the text that uses it; ERR_SYS. */
int registry_remove(struct registry *r, const char *principal, const char *name, struct buf *why);

/* [name, version, time in ns, bytes, [metric, ...], [used name, ...]] for each of the principal. */
void registry_write(const struct registry *r, const char *principal, struct omis_writer *w);

/* A registered text. Valid until the registry changes. */
struct registry_found {
	const char *name, *text;
	uint32_t version;
};

/* By the name of the text, or of a metric in it. */
bool registry_find(const struct registry *r, const char *principal, const char *name,
		   struct registry_found *out);

/*
 * The texts whose metrics are named in a text, and what these use, before what uses them. out->v is
 * for free(); it is valid until the registry changes. ERR_LIMIT: more than PMSL_LIBRARY_MAX;
 * ERR_NOMEM.
 */
int registry_library(const struct registry *r, const char *principal, const char *text,
		     struct pmsl_library *out);

size_t registry_count(const struct registry *r);

#endif
