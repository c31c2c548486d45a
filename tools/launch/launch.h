/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts watched programs: finds Omig's files and a mainsm, and sets the environment by which ranks
 * report to it.
 */
#ifndef TOOLS_LAUNCH_LAUNCH_H
#define TOOLS_LAUNCH_LAUNCH_H

#include "common/base/err.h"
#include "common/base/file.h"

#include <stdbool.h>

#define LAUNCH_CONN_BYTES 4096
#define LAUNCH_WARNING_BYTES 1024 /* a message, and two names or an error */

struct launch {
	/* requests; NULL = none */
	const char *measure; /* off, count, time, volume, partner */
	bool callsites; /* counts by call site too: with volume or partner */
	bool interactions; /* numbers messages */
	bool files; /* counts reads and writes by file system */
	const char *board; /* processes write what they do there */
	const char *site, *job;
	const char *mainsm; /* connection string */
	const char *listen; /* for a mainsm that is started */
	/* names of hosts are resolved, too, which may take long: not while a program waits */
	bool resolves_names;
	/* Results. */
	char bin[FILE_PATH_BYTES]; /* the folder of omig */
	char lib[FILE_PATH_BYTES]; /* libomig.so; libomig-io.so is beside it */
	char lm[FILE_PATH_BYTES];
	char conn[LAUNCH_CONN_BYTES]; /* "" = none */
	char job_name[256];
	bool is_stopped; /* mainsm is stopped by a signal and does not answer */
	char warning[LAUNCH_WARNING_BYTES]; /* watched with restrictions; "" = none */
};

/* Finds bin, lib and lm beside this program. The text of ERR_NOTFOUND names the missing file. */
int launch_find_files(struct launch *l, struct err *e);

/*
 * Finds a daemon in libexec/omig beside the folder `bin`, or in `bin`, which is that of a build.
 * out has FILE_PATH_BYTES. ERR_NOTFOUND: the installation is not whole.
 */
int launch_find_daemon(char *out, const char *bin, const char *name, struct err *e);
/* Runs it instead of this program. Returns only after an error. */
int launch_exec_daemon(char **argv, struct err *e);

/*
 * Makes the folder of the lm's socket, and sets warning if it is not the planned one. ERR_DENIED,
 * ERR_LIMIT: too long for a socket.
 */
int launch_need_place(struct launch *l, struct err *e);

/*
 * The requested string, OMIG_MAINSM, or that of this user's mainsm, if launch_probe() accepts it.
 * ERR_NOTFOUND, ERR_CLOSED: it has ended. Blocks for at most half a second, and while names are
 * resolved where resolves_names is set.
 */
int launch_find_mainsm(struct launch *l, struct err *e);

/* The string only. A given one (--mainsm, OMIG_MAINSM) is checked, the user's own is not. */
int launch_find_string(struct launch *l, bool *is_given, struct err *e);

/*
 * As above, but requires a running mainsm of this user, and starts one if there is none. Blocks for
 * some seconds at most.
 */
int launch_need_mainsm(struct launch *l, struct err *e);

/*
 * ERR_PARSE: not a connection string. ERR_CLOSED: nothing listens at any of its addresses. Without
 * with_names, names count as unknown; with it, this blocks until names are looked up.
 */
int launch_probe(const char *conn, bool with_names, struct err *e);

/* ERR_UNSUPPORTED, in words: that program takes no preload (static, of musl, with rights of
 * others). 0 also if nothing is known. */
int launch_check_program(const char *name, struct err *e);

/*
 * ERR_UNSUPPORTED, in words: the lm of this host has another version of the segment, so it watches
 * no program of this build. Then SEG_OTHER_LM_VARIABLE is set: ranks do not repeat it. Returns 0
 * if nothing is known, or if this process is one rank of several. Never waits.
 */
int launch_check_lm(const struct launch *l, struct err *e);

/* The process id of this user's mainsm on this host when a signal has stopped it, else 0. */
long launch_stopped_mainsm(void);

/* True if a process of the user's mainsm runs on this host: it may be starting, or ending. */
bool launch_mainsm_runs(void);

/*
 * This host's lm searches for the program that this process becomes, and for its children. The lm
 * is started when there is none. Launchers of MPI programs are excepted. Sets the variables of
 * launch_each_variable().
 */
void launch_choose(const struct launch *l, const char *program);

/* Starts the lm of this host when there is none, and does not wait for it. */
void launch_start_lm(const struct launch *l);

/*
 * Sets the job's name from the batch system or the program. Characters that a name cannot have are
 * replaced.
 */
void launch_name_job(struct launch *l, const char *program);

/*
 * Replaces conn by a string for programs, after the job is named: with a token for lms of this job
 * and site. Such a string is unchanged, and so is one without a token. is_here: programs are for
 * this host only; where its user's own mainsm.conn is, the lm takes that, and conn is without a
 * token. Blocks for some seconds at most. ERR_DENIED: the given string is a tool's, and mainsm
 * makes none for it.
 */
int launch_take_token(struct launch *l, bool is_here, struct err *e);

/* As above, through the open session of libomis. */
int launch_ask_token(struct launch *l, struct err *e);

/* Removes the token from conn. */
void launch_drop_token(struct launch *l);

/* Calls fn for each variable of the environment; a NULL value means unset. Reads the present
 * environment. */
int launch_each_variable(const struct launch *l,
			 int (*fn)(void *arg, const char *name, const char *value), void *arg);

/*
 * The variables that only Omig has, NULL-terminated: `omig env --unset` removes them, and Omig's
 * parts of LD_PRELOAD and of Open MPI's list.
 */
extern const char *const launch_variables[];

/*
 * Returns the variable of Open MPI that lists variables for other hosts, and its entries from
 * others.
 */
const char *launch_env_list_name(void);
void launch_env_list_rest(char *out, size_t size);

/* LD_PRELOAD without libraries of ours; out has size bytes. */
void launch_preload_rest(char *out, size_t size);

/* The list `old` (separated by any of seps) without the items that end with `tail`; out has size
 * bytes. */
void launch_list_without(char *out, size_t size, const char *old, const char *seps,
			 const char *tail);

#endif
