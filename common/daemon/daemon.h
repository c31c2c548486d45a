/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of the three daemons: options, configuration, loop, signals,
 * background, lock, limits, notification, status. A daemon's main() is
 *
 *	int main(int argc, char **argv) { return daemon_main(&lm_spec, argc, argv); }
 *
 * Options of every daemon: --config --check-config --dump-config --print-config
 * --example-config --foreground --background --state-dir --log-level
 * --log-format --lock-fd --help --version.
 * Each key of the schema that has CONF_OPTION is an option too.
 * Signals: TERM and INT stop (in 5 s at most; a second one at once), USR1
 * dumps the status to the log, PIPE is ignored. HUP reloads, and opens the
 * log file again.
 * Keys of every daemon, beside those of its schema: state-dir, log-level,
 * log-format, log-areas.
 */
#ifndef COMMON_DAEMON_DAEMON_H
#define COMMON_DAEMON_DAEMON_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/base/rng.h"
#include "common/conf/conf.h"
#include "common/time/timebase.h"
#include "common/omis/text/value.h"

#include <stdbool.h>

struct daemon;
struct identity;
struct loop;

enum daemon_exit {
	DAEMON_OK = 0,
	DAEMON_FAILED = 1,
	DAEMON_USAGE = 2,
	DAEMON_UNREACHABLE = 3,
	DAEMON_RUNNING = 75, /* another process has the lock; EX_TEMPFAIL of sysexits.h */
	DAEMON_BAD_CONFIG = 78,
};

#define DAEMON_STOP_MAX_NS (5 * NSEC_PER_SEC)

struct daemon_spec {
	const char *program; /* "mainsm" */
	const char *summary;
	const char *details; /* more for --help, or NULL */
	/* size of the struct of daemon_user(), which is zeroed before start and wiped after done */
	size_t bytes;
	const struct conf_schema *conf;
	const struct opt *options; /* in addition to the schema's; NULL = none */
	/*
	 * Descriptor inherited by the background process, from one of these options. 0 = none; may
	 * be NULL.
	 */
	const int64_t *inherited_fd;
	/*
	 * Checks that the schema cannot express; at start, at --check-config and before a reload.
	 * NULL = none.
	 */
	int (*check)(const void *values, struct err *e);
	/*
	 * Checks ports, programs and files that a start needs. For --check-config, which changes
	 * nothing. daemon_state_dir() is "" if it does not exist yet. NULL = none.
	 */
	int (*check_start)(struct daemon *d, struct err *e);
	bool background; /* goes to the background once ready, unless --foreground */

	/*
	 * Sets up; the loop runs after it returns 0. Must call daemon_ready() when serving, here or
	 * later. On failure set *exit_code if it is not DAEMON_FAILED; stop is not called, done is.
	 */
	int (*start)(struct daemon *d, int *exit_code, struct err *e);
	/*
	 * New values were checked against the schema; refuse or apply all of them. NULL = nothing
	 * to apply.
	 */
	int (*reload)(struct daemon *d, const void *values, struct err *e);
	/*
	 * Requests an end; call daemon_end() when the last messages are sent. NULL = end at once.
	 */
	void (*stop)(struct daemon *d, const char *reason);
	/* Writes the daemon's part of the status dump: lines of text. May be NULL. */
	void (*status)(struct daemon *d, struct buf *out);
	/* Frees the results of start, also of a failed one. */
	void (*done)(struct daemon *d);
};

/* Keys of a daemon that accepts connections, in its struct `type`: listen, port and advertise. */
#define DAEMON_LISTEN_KEYS(type, more_flags, port_help, advertise_help)                        \
	{ .name = "listen",                                                                    \
	  .kind = CONF_STRING,                                                                 \
	  .offset = offsetof(type, listen),                                                    \
	  .def = "127.0.0.1",                                                                  \
	  .min = 1,                                                                            \
	  .max = NAME_MAX_BYTES,                                                               \
	  .flags = CONF_OPTION | (more_flags),                                                 \
	  .arg = "ADDR",                                                                       \
	  .help = "address or name of this host to listen on, or auto (all addresses), which " \
		  "other hosts need" },                                                        \
		{ .name = "port",                                                              \
		  .kind = CONF_INT,                                                            \
		  .offset = offsetof(type, port),                                              \
		  .def = "0",                                                                  \
		  .max = 65535,                                                                \
		  .flags = CONF_OPTION | (more_flags),                                         \
		  .arg = "PORT",                                                               \
		  .help = (port_help) },                                                       \
	{                                                                                      \
		.name = "advertise", .kind = CONF_STRING, .offset = offsetof(type, advertise), \
		.def = "", .max = 1024, .flags = CONF_OPTION | (more_flags), .arg = "HOSTS",   \
		.help = (advertise_help)                                                       \
	}

int daemon_main(const struct daemon_spec *spec, int argc, char **argv);

/*
 * Reports that the daemon serves: to the waiting parent and systemd. In the background, stdin and
 * stdout are /dev/null from here on. stderr (the log) is then <state dir>/<program>-<host>.log.
 */
void daemon_ready(struct daemon *d);

/* Leaves the loop with this exit code (enum daemon_exit). */
void daemon_end(struct daemon *d, int exit_code);

/* Acts as after SIGTERM. */
void daemon_stop(struct daemon *d, const char *reason);

struct loop *daemon_loop(struct daemon *d);
struct timebase *daemon_timebase(struct daemon *d);
struct rng *daemon_rng(struct daemon *d); /* seeded from the kernel, or from OMIG_SEED for tests */

/* Returns the schema's struct, after a reload the new one. */
const void *daemon_conf(struct daemon *d);

/* Returns --state-dir, OMIG_STATE_DIR or the default, made and checked. */
const char *daemon_state_dir(struct daemon *d);

uint64_t daemon_epoch(struct daemon *d); /* wall ns of the start */

/* Returns NULL if the spec has no bytes. */
void *daemon_user(struct daemon *d);

struct daemon_health {
	nsec_t uptime;
	nsec_t lag_last, lag_max; /* delay of a 1 s timer by the loop; max over the last minute */
	int64_t rss_bytes;
	int fds, fd_limit;
	bool stopping;
};

void daemon_health(struct daemon *d, struct daemon_health *out);

/* Writes the health as named counters, with those of the own certificate; self NULL: without. */
void daemon_write_health(struct daemon *d, const struct identity *self, struct omis_writer *w);

/*
 * Takes the lock of one daemon of one user: an flock that lasts as long as the process. Writes the
 * pid to the file. With --lock-fd the inherited descriptor is used in place of a new lock.
 * ERR_EXISTS names the pid of the running daemon; the exit code is then DAEMON_RUNNING.
 */
int daemon_lock(struct daemon *d, const char *path, struct err *e);

/* Releases the lock for another daemon. */
void daemon_unlock(struct daemon *d);

/*
 * True if a process of this program has written its pid to the lock, and still runs. Takes no lock.
 */
bool daemon_runs(const struct daemon *d, const char *lock);

/*
 * Returns the lock's descriptor, made inheritable for the next program's --lock-fd. -1: the lock is
 * not held.
 */
int daemon_pass_lock(struct daemon *d);

#endif
