/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the skeleton. */
#ifndef COMMON_DAEMON_DAEMON_INTERNAL_H
#define COMMON_DAEMON_DAEMON_INTERNAL_H

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/daemon/daemon.h"
#include "common/daemon/notify.h"

/* --- daemon_args.c: options and the schema with the keys of every daemon */

/* Values of the keys of each daemon, behind the program's struct at args.own_offset. */
struct daemon_own {
	const char *state_dir, *log_areas;
	int log_level, log_format;
};

struct daemon_args;

struct daemon_set {
	struct daemon_args *args;
	const struct conf_key *key;
};

struct daemon_args {
	const char *config;
	bool check_config, dump_config, print_config, example_config, foreground, background;
	int64_t lock_fd; /* -1 = none */
	struct conf_key *key; /* owned: keys of the schema and of each daemon */
	struct opt *opt; /* owned */
	struct daemon_set *option; /* owned: an entry for each key that is an option */
	struct conf_set *set; /* owned: options of the command line */
	size_t nset;
	struct conf_schema schema;
	size_t own_offset;
};

int daemon_args_init(struct daemon_args *a, const struct daemon_spec *spec);
void daemon_args_done(struct daemon_args *a);

/* Returns OPT_GO; or another result after printing everything. */
enum opt_result daemon_args_parse(struct daemon_args *a, const struct daemon_spec *spec, int argc,
				  char **argv);

int daemon_args_load(const struct daemon_args *a, struct conf **out, struct err *e);
const struct daemon_own *daemon_args_own(const struct daemon_args *a, const struct conf *c);

/* --- daemon_config.c: options that print the configuration, and checks of private keys */

/*
 * Prints the output of --example-config, --dump-config or --print-config. Returns false if none of
 * them is set.
 */
bool config_print(const struct daemon_args *a, const struct conf *c, int *exit_code);

/*
 * Finds private keys of this program, below the state and runtime directories, that other users
 * could read. Fails with ERR_DENIED, which names the first one. A missing directory has none.
 */
int config_check_keys(const char *program, const char *state_dir, struct err *e);

/* --- background.c */

/*
 * Forks. Returns 0 in the child, with *ready for background_report(). The parent waits for that
 * call, and returns 1 with the exit status in *status. The child has only the standard descriptors,
 * *ready, and keep[n] (entries below 3 are ignored). Fails with ERR_SYS.
 */
int background_fork(int *ready, const int *keep, size_t n, int *status, struct err *e);

/*
 * Sends the status to the parent, closes *ready and sets it to -1. Returns false if the parent has
 * ended.
 */
bool background_report(int *ready, int status);

/*
 * Redirects stdin and stdout to /dev/null, and stderr to the log file, or on failure to /dev/null.
 */
int background_detach(const char *log_path, struct err *e);

/*
 * Redirects stderr to that file, which is made if it is missing. A file of 8 MiB or more is renamed
 * to PATH.1 before. On failure stderr is unchanged.
 */
int background_log(const char *path, struct err *e);

/*
 * Writes the path of stderr to out if it is a file in that directory; otherwise "". It is one for
 * an sm that mainsm has started. out has FILE_PATH_BYTES.
 */
void background_find_log(const char *dir, char *out);

/* --- lock.c */

/*
 * Takes a lock: a close-on-exec descriptor, with our pid in the file. inherited: a descriptor that
 * has the lock already; -1: none.
 */
int lock_take(const char *path, int inherited, int *out, struct err *e);

/* True if the pid in the file belongs to a process of that program. */
bool lock_is_of(const char *path, const char *program);

/* --- health.c */

struct lag {
	nsec_t last, max[2]; /* maxima of this half minute and of the previous one */
	unsigned ticks;
};

void lag_note(struct lag *g, nsec_t late);
void health_measure(struct daemon_health *h);

/*
 * Raises the limit of descriptors to the hard limit, forbids core files, and closes our memory to
 * other processes.
 */
void process_harden(void);

/* A leak check attaches to the process, which must then be dumpable. */
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

#endif
