/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of the three daemons: options, configuration, loop, signals, background, lock,
 * limits, notification, status. A daemon's main() is
 *
 *	int main(int argc, char **argv) { return daemon_main(&lm_spec, argc, argv); }
 *
 * Options of every daemon: --config --check-config --dump-config --print-config --example-config
 * --foreground --background --state-dir --log-level --log-format --lock-fd --help --version. Each
 * key of the schema that has CONF_OPTION is an option too. Signals: TERM and INT stop the daemon,
 * within 5 s, or at once when repeated. USR1 dumps the status to the log, PIPE is ignored. HUP
 * reloads, and opens the log file again. Each daemon has the keys state-dir, log-level, log-format
 * and log-areas, besides those of its schema.
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
	const char *program; /* such as "mainsm" */
	const char *summary;
	const char *details; /* more for --help, or NULL */
	/* size of the struct of daemon_user(), which is zeroed before start and wiped after done */
	size_t bytes;
	const struct conf_schema *conf;
	const struct opt *options; /* options besides those of the schema; NULL = none */
	/*
	 * The value of an option for a descriptor that the background process inherits. 0 = none;
	 * may be NULL.
	 */
	const int64_t *inherited_fd;
	/*
	 * Makes checks that the schema cannot express: at the start, for --check-config, and before
	 * a reload. NULL = none.
	 */
	int (*check)(const void *values, struct err *e);
	/*
	 * For --check-config: checks ports, programs and files that a start needs, without any
	 * change. daemon_state_dir() is "" if it does not exist yet. NULL = none.
	 */
	int (*check_start)(struct daemon *d, struct err *e);
	/* the daemon goes to the background when it is ready, unless --foreground is set */
	bool background;

	/*
	 * Starts the daemon; the loop runs after it returns 0. Must call daemon_ready() when the
	 * daemon serves, in this call or later. On failure sets *exit_code unless it is
	 * DAEMON_FAILED; then done is called, but not stop.
	 */
	int (*start)(struct daemon *d, int *exit_code, struct err *e);
	/*
	 * Called with new values that fit the schema: applies all of them, or refuses all. NULL =
	 * none is applied.
	 */
	int (*reload)(struct daemon *d, const void *values, struct err *e);
	/*
	 * Requests the end: daemon_end() must be called when the last messages are sent. NULL = the
	 * daemon ends at once.
	 */
	void (*stop)(struct daemon *d, const char *reason);
	/* Writes lines of text for the status dump. May be NULL. */
	void (*status)(struct daemon *d, struct buf *out);
	/* Frees the results of start, also after its failure. */
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
 * Reports to the waiting parent and to systemd that the daemon serves. In the background, stdin and
 * stdout are /dev/null from now on, and stderr (the log) is <state dir>/<program>-<host>.log.
 */
void daemon_ready(struct daemon *d);

/* Leaves the loop with this exit code (enum daemon_exit). */
void daemon_end(struct daemon *d, int exit_code);

/* Acts as after SIGTERM. */
void daemon_stop(struct daemon *d, const char *reason);

struct loop *daemon_loop(struct daemon *d);
struct timebase *daemon_timebase(struct daemon *d);
/* returns random numbers, seeded from the kernel, or from OMIG_SEED for tests */
struct rng *daemon_rng(struct daemon *d);

/* Returns the schema's struct with the latest values. */
const void *daemon_conf(struct daemon *d);

/* Returns --state-dir, OMIG_STATE_DIR or the default. The directory was made and checked. */
const char *daemon_state_dir(struct daemon *d);

uint64_t daemon_epoch(struct daemon *d); /* returns the wall time of the start in ns */

/* Returns NULL if the spec has no bytes. */
void *daemon_user(struct daemon *d);

struct daemon_health {
	nsec_t uptime;
	/* delay of a timer of 1 s in the loop; lag_max: largest in the last minute */
	nsec_t lag_last, lag_max;
	int64_t rss_bytes;
	int fds, fd_limit;
	bool stopping;
};

void daemon_health(struct daemon *d, struct daemon_health *out);

/*
 * Writes the health as named counters, with those of the daemon's certificate; self NULL: without
 * them.
 */
void daemon_write_health(struct daemon *d, const struct identity *self, struct omis_writer *w);

/*
 * Takes the lock of this daemon for this user: an flock that lasts as long as the process. Writes
 * the pid to the file. With --lock-fd an inherited descriptor replaces a new lock. Fails with
 * ERR_EXISTS, with the pid of the running daemon in the text; the exit code is then DAEMON_RUNNING.
 */
int daemon_lock(struct daemon *d, const char *path, struct err *e);

/* Releases the lock, so that another daemon can take it. */
void daemon_unlock(struct daemon *d);

/*
 * True if a process of this program has written its pid to the lock file, and still runs. Takes no
 * lock.
 */
bool daemon_runs(const struct daemon *d, const char *lock);

/*
 * Makes the lock's descriptor inheritable, for --lock-fd of the next program, and returns it.
 * Returns -1 if the lock is not held.
 */
int daemon_pass_lock(struct daemon *d);

#endif
