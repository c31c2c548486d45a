/* SPDX-License-Identifier: Apache-2.0 */
#include "common/daemon/daemon.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/daemon/counters.h"
#include "common/daemon/daemon_internal.h"
#include "common/loop/loop.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS NSEC_PER_SEC

static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

#define NSIGNALS ARRAY_LEN(signals)

struct daemon {
	const struct daemon_spec *spec;
	struct daemon_args args;
	struct conf *conf;
	struct loop *loop;
	struct loop_signal *signal[NSIGNALS];
	struct loop_timer *tick, *patience, *watchdog;
	nsec_t tick_due, started;
	struct lag lag;
	struct rng rng;
	struct timebase timebase;
	struct notify notify;
	char state_dir[FILE_PATH_BYTES];
	char log_path[FILE_PATH_BYTES]; /* file to which stderr is redirected; "": none */
	uint64_t epoch;
	int ready_fd; /* pipe to the waiting parent, or -1 */
	int lock_fd; /* or -1 */
	int exit_code;
	bool is_ready, is_stopping, is_ended, is_background;
	void *user;
};

/* --- queries */

struct loop *daemon_loop(struct daemon *d)
{
	return d->loop;
}

struct timebase *daemon_timebase(struct daemon *d)
{
	return &d->timebase;
}

struct rng *daemon_rng(struct daemon *d)
{
	return &d->rng;
}

const void *daemon_conf(struct daemon *d)
{
	return conf_values(d->conf);
}

const char *daemon_state_dir(struct daemon *d)
{
	return d->state_dir;
}

uint64_t daemon_epoch(struct daemon *d)
{
	return d->epoch;
}

void *daemon_user(struct daemon *d)
{
	return d->user;
}

void daemon_health(struct daemon *d, struct daemon_health *out)
{
	*out = (struct daemon_health){ .uptime = loop_now(d->loop) - d->started,
				       .lag_last = d->lag.last,
				       .lag_max = d->lag.max[0] > d->lag.max[1] ? d->lag.max[0]
										: d->lag.max[1],
				       .stopping = d->is_stopping };
	health_measure(out);
}

static void write_pair(void *arg, const char *name, int64_t value)
{
	omis_write_pair(arg, name, value);
}

void daemon_write_health(struct daemon *d, const struct identity *self, struct omis_writer *w)
{
	const struct counter_sink to = { write_pair, w };
	struct daemon_health h;

	daemon_health(d, &h);
	counters_of_process(&to, &h);
	counters_of_certificate(&to, self);
}

int daemon_lock(struct daemon *d, const char *path, struct err *e)
{
	int rc = lock_take(path, (int)d->args.lock_fd, &d->lock_fd, e);

	if (rc == -ERR_EXISTS)
		d->exit_code = DAEMON_RUNNING;
	return rc;
}

void daemon_unlock(struct daemon *d)
{
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	d->lock_fd = -1;
	d->args.lock_fd = -1; /* also closed, if it was inherited */
}

bool daemon_runs(const struct daemon *d, const char *lock)
{
	return lock_is_of(lock, d->spec->program);
}

int daemon_pass_lock(struct daemon *d)
{
	return d->lock_fd < 0 ? -1 : dup(d->lock_fd);
}

/* --- log */

static void open_log(const struct daemon *d)
{
	const struct daemon_own *own = daemon_args_own(&d->args, d->conf);

	log_open(&(struct log_conf){ .level = (enum log_level)own->log_level,
				     .format = (enum log_format)own->log_format,
				     .fd = -1,
				     .areas = own->log_areas,
				     .program = d->spec->program });
}

/* Reports an error: on stderr before the daemon serves, afterwards in the log. */
static void complain(const struct daemon *d, const struct err *e)
{
	if (d->is_ready)
		log_error(d->spec->program, "%s", e->text);
	else
		fprintf(stderr, "%s: %s\n", d->spec->program, e->text);
}

/* --- ready, stop, end */

static void leave_terminal(struct daemon *d)
{
	char host[HOST_NAME_MAX + 1] = "", *path = d->log_path;
	struct err e = { 0 };

	gethostname(host, sizeof(host) - 1);
	if (snprintf(path, sizeof(d->log_path), "%s/%s-%s.log", d->state_dir, d->spec->program,
		     strchr(host, '/') ? "host" : host) >= (int)sizeof(d->log_path)) {
		*path = '\0';
		return;
	}
	if (background_detach(path, &e))
		log_warn("daemon", "no log file: %s", e.text);
	open_log(d); /* a file needs another format than a terminal */
}

void daemon_ready(struct daemon *d)
{
	if (d->is_ready)
		return;
	d->is_ready = true;
	fflush(stdout);
	if (!background_report(&d->ready_fd, DAEMON_OK)) {
		daemon_stop(d, "its parent process is gone");
		return;
	}
	if (d->is_background)
		leave_terminal(d);
	else
		background_find_log(d->state_dir, d->log_path);
	notify_send(&d->notify, "READY=1");
	log_notice("daemon", "ready version=%s pid=%ld", OMIG_VERSION, (long)getpid());
}

void daemon_end(struct daemon *d, int exit_code)
{
	if (!d->is_ended)
		d->exit_code = exit_code;
	d->is_ended = true;
	loop_stop(d->loop);
}

void daemon_stop(struct daemon *d, const char *reason)
{
	if (d->is_stopping)
		return;
	d->is_stopping = true;
	log_notice("daemon", "stopping reason=\"%s\"", reason);
	notify_send(&d->notify, "STOPPING=1");
	loop_timer_arm(d->patience, DAEMON_STOP_MAX_NS);
	if (d->spec->stop)
		d->spec->stop(d, reason);
	else
		daemon_end(d, DAEMON_OK);
}

/* --- reload, status */

static void report_kept(void *arg, const char *name)
{
	log_warn("daemon",
		 "%s changed in the configuration: it needs a restart, the old value stays", name);
}

static int load_again(struct daemon *d, struct err *e)
{
	struct conf *next = NULL;
	int rc = daemon_args_load(&d->args, &next, e);

	if (!rc)
		rc = conf_keep_fixed(d->conf, next, report_kept, NULL, e);
	if (!rc && d->spec->check)
		rc = d->spec->check(conf_values(next), e);
	if (!rc)
		rc = config_check_keys(d->spec->program, d->state_dir, e);
	if (!rc && d->spec->reload)
		rc = d->spec->reload(d, conf_values(next), e);
	if (rc) {
		conf_free(next);
		return rc;
	}
	conf_free(d->conf);
	d->conf = next;
	return 0;
}

/*
 * Opens the log file again, because it may have been renamed or removed, for example by
 * logrotate(8).
 */
static void open_log_file(struct daemon *d)
{
	struct err e = { 0 };

	if (d->log_path[0] && background_log(d->log_path, &e))
		log_warn("daemon", "the log file cannot be opened again: %s", e.text);
}

static void reload(struct daemon *d)
{
	struct err e = { 0 };
	char text[80];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)(clock_mono() / NSEC_PER_USEC));
	notify_send(&d->notify, text);
	open_log_file(d);
	if (load_again(d, &e)) {
		log_error("daemon", "reload refused, the old configuration stays: %s", e.text);
	} else {
		open_log(d);
		log_notice("daemon", "configuration reloaded");
	}
	notify_send(&d->notify, "READY=1");
}

/* Uses a new site for each line, because the rate limit must not cut a requested dump. */
static void log_lines(const char *text)
{
	while (*text) {
		struct log_site site = { 0 };
		size_t n = strcspn(text, "\n");

		if (n && log_is_on(LOG_LEVEL_NOTICE))
			log_line(&site, LOG_LEVEL_NOTICE, "status", "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void dump_status(struct daemon *d)
{
	struct buf b = BUF_INIT(1024 * 1024);
	struct daemon_health h;

	daemon_health(d, &h);
	buf_printf(&b,
		   "uptime_s=%lld lag_us=%lld lag_max_us=%lld rss_kib=%lld fds=%d fd_limit=%d\n",
		   (long long)(h.uptime / NSEC_PER_SEC), (long long)(h.lag_last / NSEC_PER_USEC),
		   (long long)(h.lag_max / NSEC_PER_USEC), (long long)(h.rss_bytes / 1024), h.fds,
		   h.fd_limit);
	if (d->spec->status)
		d->spec->status(d, &b);
	log_lines(buf_str(&b));
	buf_done(&b);
}

/* --- callbacks of the loop */

static void on_signal(void *arg, int signo)
{
	struct daemon *d = arg;

	if (signo == SIGHUP)
		reload(d);
	else if (signo == SIGUSR1)
		dump_status(d);
	else if (d->is_stopping)
		daemon_end(d, DAEMON_FAILED);
	else
		daemon_stop(d, signo == SIGTERM ? "SIGTERM" : "SIGINT");
}

static void on_tick(void *arg)
{
	struct daemon *d = arg;
	nsec_t now = loop_now(d->loop);

	lag_note(&d->lag, now - d->tick_due);
	d->tick_due = now + TICK_NS;
	loop_timer_arm(d->tick, TICK_NS);
}

static void on_patience(void *arg)
{
	struct daemon *d = arg;

	log_warn("daemon", "ending although not all is closed");
	daemon_end(d, DAEMON_FAILED);
}

static void on_watchdog(void *arg)
{
	struct daemon *d = arg;

	notify_send(&d->notify, "WATCHDOG=1");
	loop_timer_arm(d->watchdog, d->notify.watchdog / 2);
}

/* --- start and end */

/* make: false for a command that only reads the configuration and must not change the disk. */
static int find_state_dir(struct daemon *d, bool make, struct err *e)
{
	const char *given = daemon_args_own(&d->args, d->conf)->state_dir;
	char path[FILE_PATH_BYTES], *real;

	if (*given)
		str_copy(path, sizeof(path), given);
	else if (make ? file_state_dir(path, e) : file_state_dir_find(path, e))
		return -ERR_DENIED;
	if (make ? file_private_dir(path, e) : file_private_dir_look(path, e))
		return -ERR_DENIED;
	if (!make && access(path, F_OK))
		return 0;
	/* an absolute path, which messages and children can use unchanged */
	real = realpath(path, NULL);
	if (!real)
		return err_sys(e, "%s", path);
	str_copy(d->state_dir, sizeof(d->state_dir), real);
	free(real);
	return config_check_keys(d->spec->program, d->state_dir, e);
}

static int seed_rng(struct daemon *d, struct err *e)
{
	const char *text = getenv("OMIG_SEED");
	uint64_t seed;
	int rc = 0;

	if (!text || str_to_u64(text, 0, UINT64_MAX, &seed))
		rc = rng_fill_random(&seed, sizeof(seed), e);
	if (!rc)
		rng_init(&d->rng, seed);
	return rc;
}

static int open_timers(struct daemon *d, struct err *e)
{
	d->tick = loop_timer_new(d->loop, on_tick, d);
	d->patience = loop_timer_new(d->loop, on_patience, d);
	d->watchdog = loop_timer_new(d->loop, on_watchdog, d);
	if (!d->tick || !d->patience || !d->watchdog)
		return err_nomem(e);
	d->tick_due = loop_now(d->loop) + TICK_NS;
	loop_timer_arm(d->tick, TICK_NS);
	if (d->notify.watchdog)
		loop_timer_arm(d->watchdog, d->notify.watchdog / 2);
	return 0;
}

static int open_signals(struct daemon *d, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, NULL);
	for (size_t i = 0; i < NSIGNALS; i++) {
		d->signal[i] = loop_signal_new(d->loop, signals[i], on_signal, d, e);
		if (!d->signal[i])
			return e->code ? -(int)e->code : err_nomem(e);
	}
	return 0;
}

static int make_user(struct daemon *d, struct err *e)
{
	if (d->spec->bytes)
		d->user = calloc(1, d->spec->bytes);
	return d->user || !d->spec->bytes ? 0 : err_nomem(e);
}

static int open_all(struct daemon *d, struct err *e)
{
	int rc = make_user(d, e);

	if (!rc)
		rc = seed_rng(d, e);
	if (rc)
		return rc;
	rc = find_state_dir(d, true, e);
	if (rc) {
		d->exit_code = DAEMON_BAD_CONFIG;
		return rc;
	}
	d->loop = loop_new();
	if (!d->loop)
		return err_set(e, ERR_NOMEM, "no memory or descriptors for the event loop");
	d->started = loop_now(d->loop);
	d->epoch = (uint64_t)clock_wall();
	timebase_init(&d->timebase, d->started, (nsec_t)d->epoch);
	rc = open_timers(d, e);
	return rc ? rc : open_signals(d, e);
}

static void close_all(struct daemon *d)
{
	for (size_t i = 0; i < NSIGNALS; i++)
		loop_signal_free(d->signal[i]);
	loop_timer_free(d->tick);
	loop_timer_free(d->patience);
	loop_timer_free(d->watchdog);
	loop_free(d->loop);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	if (d->user)
		str_wipe(d->user, d->spec->bytes);
	free(d->user);
}

static int serve(struct daemon *d)
{
	struct err e = { 0 };

	d->exit_code = DAEMON_FAILED;
	if (open_all(d, &e)) {
		complain(d, &e);
	} else if (d->spec->start(d, &d->exit_code, &e)) {
		complain(d, &e);
		if (d->spec->done)
			d->spec->done(d);
	} else {
		if (loop_run(d->loop))
			daemon_end(d, DAEMON_FAILED);
		if (d->spec->done)
			d->spec->done(d);
		log_notice("daemon", "ended exit=%d", d->exit_code);
	}
	close_all(d);
	return d->exit_code;
}

/* --- main */

static int run(struct daemon *d)
{
	const int64_t *inherited = d->spec->inherited_fd;
	const int keep[] = { (int)d->args.lock_fd, inherited ? (int)*inherited : 0 };
	struct err e = { 0 };
	int status = DAEMON_FAILED, forked = 0;

	d->is_background = (d->spec->background || d->args.background) && !d->args.foreground;
	process_harden();
	open_log(d);
	if (d->is_background)
		forked = background_fork(&d->ready_fd, keep, ARRAY_LEN(keep), &status, &e);
	if (forked > 0)
		return status;
	if (forked) {
		complain(d, &e);
		return DAEMON_FAILED;
	}
	notify_init(&d->notify);
	status = serve(d);
	background_report(&d->ready_fd, status);
	return status;
}

/*
 * Returns the exit status for an error of the configuration. An error of an option is a usage
 * error, even if it was found later.
 */
static int bad_config(const struct daemon_spec *spec, const struct err *e)
{
	fprintf(stderr, "%s: %s\n", spec->program, e->text);
	if (e->code == ERR_NOMEM)
		return DAEMON_FAILED;
	return str_has_prefix(e->text, "option --") ? DAEMON_USAGE : DAEMON_BAD_CONFIG;
}

/* Checks the configuration like a start. */
static int check_config(struct daemon *d)
{
	struct err e = { 0 };

	if (find_state_dir(d, false, &e) || (d->spec->check_start && d->spec->check_start(d, &e)))
		return bad_config(d->spec, &e);
	puts("the configuration is good");
	return DAEMON_OK;
}

static int main_with_args(struct daemon *d, int argc, char **argv)
{
	enum opt_result r = daemon_args_parse(&d->args, d->spec, argc, argv);
	struct err e = { 0 };
	int status = DAEMON_OK;

	if (r != OPT_GO)
		return r == OPT_DONE ? DAEMON_OK : DAEMON_USAGE;
	if (config_print(&d->args, NULL, &status))
		return status;
	if (daemon_args_load(&d->args, &d->conf, &e) ||
	    (d->spec->check && d->spec->check(conf_values(d->conf), &e)))
		return bad_config(d->spec, &e);
	if (config_print(&d->args, d->conf, &status))
		return status;
	return d->args.check_config ? check_config(d) : run(d);
}

int daemon_main(const struct daemon_spec *spec, int argc, char **argv)
{
	struct daemon d = { .spec = spec, .ready_fd = -1, .lock_fd = -1 };
	int status = DAEMON_FAILED;

	if (!daemon_args_init(&d.args, spec))
		status = main_with_args(&d, argc, argv);
	conf_free(d.conf);
	daemon_args_done(&d.args);
	log_close();
	return status;
}
