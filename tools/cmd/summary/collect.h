/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the summary of a job from replies, reading after reading. */
#ifndef TOOLS_CMD_SUMMARY_COLLECT_H
#define TOOLS_CMD_SUMMARY_COLLECT_H

#include "common/base/clock.h"
#include "tools/libomis/omis.h"
#include "tools/summary/summary.h"

struct collect;

/*
 * job: its processes are those of the tree with that name, which a segment cuts to 63 bytes. begun:
 * clock_mono() when the program was started. NULL: no memory.
 */
struct collect *collect_new(const char *job, nsec_t begun);
void collect_free(struct collect *c);

/* Reads the tree, which must be the first reply, and adds each new process of the job. */
void collect_tree(struct collect *c, const Omis_value *tree);

/*
 * Reads the replies to proc_get_info([],COLLECT_PROC_FLAGS) and omig_calls_read([],2), which follow
 * the tree. now: clock_mono() of the reply. Adds a slice to each section. Returns false without
 * memory; values then remain unchanged or become newer.
 */
#define COLLECT_PROC_FLAGS (1 << 9 | 1 << 11 | 1 << 16 | 1 << 26 | 1 << 27 | 1 << 29)
bool collect_reply(struct collect *c, const Omis_object_result *info,
		   const Omis_object_result *calls, nsec_t now);

/*
 * Adds the reply to omig_calls_profile([],"size"). The reading with most calls is kept, because
 * sums only grow.
 */
void collect_sizes(struct collect *c, const Omis_object_result *entries);

struct profile;
/*
 * Copies the known places into a profile by call site, so that profile_ask_places() requests only
 * the others.
 */
void collect_places(struct collect *c, struct profile *p);
/* As collect_sizes(), for call sites. */
void collect_sites(struct collect *c, const struct profile *p);

bool collect_has_any(const struct collect *c); /* a process is known */

/*
 * Returns true if processes were found, and all have ended and were read after that. No rank of a
 * program may be missing.
 */
bool collect_is_complete(const struct collect *c);

/* Copies a name, cut and escaped as a summary requires. */
void collect_name(char out[SUMMARY_NAME_BYTES], const char *s);

/*
 * Moves all known values into s, with notes about missing ones; sorts it. has_partners: they were
 * measured. Returns false without memory.
 */
bool collect_end(struct collect *c, struct summary *s, bool has_partners);

#endif
