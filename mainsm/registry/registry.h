/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics that users have added to their monitor: texts of the metric language, by name. A later
 * text may use their metrics, and a measurement may be of one of them.
 *
 * Each belongs to a principal (common/net/identity.h), and is visible to that principal alone: two
 * users may have metrics of the same names. A text that replaces another has the next version.
 * Additions and removals survive the end of the daemon and of the machine (common/store).
 *
 * A removal or a new version that would break a text which uses the old one is refused. A
 * measurement under way keeps the version that it began with.
 */
#ifndef MAINSM_REGISTRY_REGISTRY_H
#define MAINSM_REGISTRY_REGISTRY_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/omis/text/value.h"
#include "common/store/disk.h"
#include "pmsl/pmsl.h"

struct added_services;
struct registry;

struct registry_conf {
	const struct disk *disk; /* borrowed; NULL: the system's */
	const char *dir; /* the folder of its file; NULL: the registry is in memory only */
	int64_t (*wall_now)(void *arg); /* ns since 1970 */
	/*
	 * Returns the services that plug-ins have now, and a number that changes with them. All
	 * principals see their metrics. May be NULL.
	 */
	const struct added_services *(*added)(void *arg, unsigned *version);
	void *arg;
};

/* ERR_NOMEM; ERR_SYS and others if its file cannot be read. A damaged file is renamed to *.bad.
 */
int registry_open(const struct registry_conf *c, struct registry **out, struct err *e);
void registry_free(struct registry *r);

/* A text to add. */
struct registry_text {
	const char *name, *text;
};

/*
 * Adds or replaces that text of a principal. ERR_INVALID: `why` has the diagnoses, or the texts
 * that it would break. ERR_LIMIT. ERR_SYS: it could not be stored. On failure nothing has changed.
 */
int registry_add(struct registry *r, const char *principal, const struct registry_text *t,
		 uint32_t *version, struct buf *why);

/* ERR_NOTFOUND; ERR_INVALID: `why` names the text that uses it; ERR_SYS. */
int registry_remove(struct registry *r, const char *principal, const char *name, struct buf *why);

/*
 * [name, version, time in ns, bytes, [metric, ...], [used name, ...]] for each text of the
 * principal.
 */
void registry_write(struct registry *r, const char *principal, struct omis_writer *w);

/* A registered text. Valid until the registry changes. */
struct registry_found {
	const char *name, *text;
	uint32_t version;
};

/* Finds a text by its name, or by the name of a metric in it. */
bool registry_find(struct registry *r, const char *principal, const char *name,
		   struct registry_found *out);

/*
 * Finds the texts whose metrics a text names, and the texts that these use. Each text comes before
 * its users. The caller frees out->v, which is valid until the registry changes. ERR_LIMIT: more
 * than PMSL_LIBRARY_MAX; ERR_NOMEM.
 */
int registry_library(struct registry *r, const char *principal, const char *text,
		     struct pmsl_library *out);

size_t registry_count(const struct registry *r);

#endif
