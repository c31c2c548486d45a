/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting programs watched: where our files are, a mainsm to talk to, and
 * the environment that makes ranks report to it.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include "common/base/err.h"
#include "common/base/file.h"

#include <stdbool.h>

#define LAUNCH_CONN_BYTES 4096

struct launch {
	/* wishes; NULL = none */
	const char *measure; /* off, count, time, volume */
	const char *site, *job;
	const char *mainsm; /* connection string */
	const char *listen; /* for a mainsm that is started */
	/* what was found */
	char bin[FILE_PATH_BYTES]; /* the folder of omig, and of the daemons */
	char lib[FILE_PATH_BYTES]; /* libomig.so */
	char lm[FILE_PATH_BYTES];
	char conn[LAUNCH_CONN_BYTES]; /* "" = none */
	char job_name[256];
};

/* Finds bin, lib, lm beside this program. ERR_NOTFOUND names what is missing. */
int launch_find_files(struct launch *l, struct err *e);

/*
 * The wish, OMIG_MAINSM, or that of this user's mainsm; asks nobody whether it lives. ERR_NOTFOUND.
 */
int launch_find_mainsm(struct launch *l, struct err *e);

/* As above, but makes sure that it answers, and starts one when there is none. Blocks for some seconds at most. */
int launch_need_mainsm(struct launch *l, struct err *e);

/* Names the job after the batch system's, or the program. */
void launch_name_job(struct launch *l, const char *program);

/* Calls fn for each variable of the environment; a NULL value means unset. Reads the present environment. */
int launch_each_variable(const struct launch *l, int (*fn)(void *arg, const char *name, const char *value), void *arg);

/* Variables of ours alone, NULL-terminated: what `omig env --unset` takes away besides LD_PRELOAD and Open MPI's list. */
extern const char *const launch_variables[];

/* Open MPI's variable that lists what goes to other hosts, and what others have put there. */
const char *launch_env_list_name(void);
void launch_env_list_rest(char *out, size_t size);

/* The list `old` (separated by any of seps) without the items that end with `tail`; out has size bytes. */
void launch_list_without(char *out, size_t size, const char *old, const char *seps, const char *tail);

#endif
