/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/lm_daemon.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/member/join.h"
#include "common/net/net.h"
#include "common/ring/seg.h"
#include "lm/host/filelist.h"
#include "lm/host/host_linux.h"
#include "lm/lm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct lm_values {
	const char *mainsm, *site, *host;
	const char *files, *plugins;
	int64_t linger;
	bool manipulate;
};

#define KEY(key, member) .name = (key), .offset = offsetof(struct lm_values, member)

static const struct conf_key keys[] = {
	{ KEY("mainsm", mainsm), .kind = CONF_STRING, .def = "", .max = CONNSTR_MAX_BYTES,
	  .arg = "STRING", .flags = CONF_OPTION | CONF_SECRET | CONF_NOENV,
	  .help = "connection string of the mainsm, or @FILE that has it; "
		  "empty: OMIG_MAINSM, else the one of this user on this host" },
	{ KEY("site", site), .kind = CONF_STRING, .def = "", .max = NAME_MAX_BYTES, .arg = "NAME",
	  .flags = CONF_OPTION, .help = "site that this host belongs to; empty: mainsm decides" },
	{ KEY("host", host), .kind = CONF_STRING, .def = "", .max = NAME_MAX_BYTES, .arg = "NAME",
	  .flags = CONF_OPTION, .help = "name of this host; empty: the system's name" },
	{ KEY("linger", linger), .kind = CONF_NSEC, .def = "60s", .min = 0,
	  .max = 30 * 86400 * NSEC_PER_SEC, .arg = "TIME", .flags = CONF_OPTION | CONF_RELOAD,
	  .help = "ends after this time without processes; 0: never" },
	{ KEY("manipulate", manipulate), .kind = CONF_BOOL, .def = "yes",
	  .help = "let tools with that right stop, continue and signal processes of this user" },
	{ KEY("files", files), .kind = CONF_STRING, .def = FILELIST_DEFAULT, .arg = "PATHS",
	  .help = "files that tools may list with node_get_file_listing, blanks between them" },
	{ KEY("plugins", plugins), .kind = CONF_STRING, .def = "", .arg = "PATHS",
	  .help = "plug-ins that are there from the start, blanks between them: docs/plugins.md" },
	{ 0 },
};

static const struct conf_schema schema = { .program = "lm",
					   .bytes = sizeof(struct lm_values),
					   .key = keys };

/* The starter passes --daemon, which has no effect: the lm always runs in the background. */
static bool ignored_daemon;
static int64_t listen_fd; /* 0 = none */

/* Inherited by the next lm; lock -1: there is none. listener -1: it makes its own. */
static struct {
	int lock, listener;
} successor = { -1, -1 };

static const struct opt options[] = {
	{ .name = "daemon",
	  .kind = OPT_FLAG,
	  .into = &ignored_daemon,
	  .help = "go to the background once ready (the default)" },
	{ .name = "listen-fd",
	  .arg = "N",
	  .kind = OPT_I64,
	  .into = &listen_fd,
	  .min = 3,
	  .max = 1 << 20,
	  .help = "the socket at which processes register already" },
	{ 0 },
};

/* Paths of one host and one CA: R/lm-<host>-<caid> and the names derived from it. */
struct lm_paths {
	char base[FILE_PATH_BYTES]; /* private directory: key, certificate, journal, audit */
	char socket[FILE_PATH_BYTES], lock[FILE_PATH_BYTES], journal[FILE_PATH_BYTES];
	char audit[FILE_PATH_BYTES], done[FILE_PATH_BYTES], baselines[FILE_PATH_BYTES];
	/* kept subscriptions; in the state directory, which outlives a reboot */
	char spool[FILE_PATH_BYTES];
	char memfd[64];
	char tracer[FILE_PATH_BYTES], guard[FILE_PATH_BYTES], look[FILE_PATH_BYTES],
		plugin[FILE_PATH_BYTES]; /* programs in our directory */
	char plugins[FILE_PATH_BYTES]; /* plug-ins that requests have added */
};

struct program {
	struct daemon *daemon;
	struct connstr conn;
	char host_name[NAME_MAX_BYTES + 1];
	struct lm_paths paths;
	struct host *host;
	struct lm *lm;
	struct join *join;
};

static int find_host_name(struct program *p, const char *given, struct err *e)
{
	if (*given)
		str_copy(p->host_name, sizeof(p->host_name), given);
	else if (gethostname(p->host_name, sizeof(p->host_name) - 1) < 0)
		return err_sys(e, "gethostname");
	if (!identity_host_is_valid(p->host_name))
		return err_set(e, ERR_INVALID,
			       "this host's name is not a name: give one with --host");
	return 0;
}

/* Processes use the system's name of the host, whatever name the monitor uses. */
static int fill_paths(struct program *p, struct err *e)
{
	char runtime[FILE_PATH_BYTES], node[NAME_MAX_BYTES + 1] = "", caid[CONNSTR_CAID_LEN + 1];
	struct lm_paths *to = &p->paths;
	int rc = file_runtime_dir(runtime, e);

	if (rc)
		return rc;
	gethostname(node, sizeof(node) - 1);
	connstr_caid(&p->conn, caid);
	if (seg_lm_path(to->spool, sizeof(to->spool),
			&(struct seg_lm_name){ daemon_state_dir(p->daemon), p->host_name, caid },
			".spool"))
		return err_set(e, ERR_LIMIT, "%s is too long", daemon_state_dir(p->daemon));
	snprintf(to->memfd, sizeof(to->memfd), "%s%s", SEG_MEMFD_PREFIX, caid);
	if (seg_lm_path(to->base, sizeof(to->base), &(struct seg_lm_name){ runtime, node, caid },
			"") ||
	    seg_lm_path(to->socket, sizeof(to->socket),
			&(struct seg_lm_name){ runtime, node, caid }, ".sock") ||
	    seg_lm_path(to->lock, sizeof(to->lock), &(struct seg_lm_name){ runtime, node, caid },
			".lock"))
		return err_set(e, ERR_LIMIT,
			       "%s is too long: set OMIG_RUNTIME_DIR to a shorter path", runtime);
	rc = file_beside_program(to->tracer, "lm-trace", e);
	if (!rc)
		rc = file_beside_program(to->guard, "lm-guard", e);
	if (!rc)
		rc = file_beside_program(to->look, "lm-look", e);
	if (!rc)
		rc = file_beside_program(to->plugin, "lm-plugin", e);
	if (!rc)
		rc = file_private_dir(to->base, e);
	if (!rc)
		rc = file_join(to->audit, sizeof(to->audit), to->base, "audit", e);
	if (!rc)
		rc = file_join(to->done, sizeof(to->done), to->base, "done", e);
	if (!rc)
		rc = file_join(to->baselines, sizeof(to->baselines), to->base, "bases", e);
	if (!rc)
		rc = file_join(to->plugins, sizeof(to->plugins), to->base, "plugins", e);
	return rc ? rc : file_join(to->journal, sizeof(to->journal), to->base, "stops", e);
}

static void on_health(void *arg, struct daemon_health *out)
{
	daemon_health(((struct program *)arg)->daemon, out);
}

static void on_end(void *arg, const char *reason)
{
	struct program *p = arg;

	daemon_end(p->daemon, DAEMON_OK);
}

static void on_up(void *arg)
{
	struct program *p = arg;

	join_connected(p->join);
}

static void on_enrol_ack(void *arg, const struct msg_enrol_ack *ack)
{
	struct program *p = arg;

	join_renewed(p->join, ack);
}

static void on_member(void *arg, struct net_ctx *ctx)
{
	struct program *p = arg;

	if (lm_connect(p->lm, ctx, &p->conn))
		daemon_stop(p->daemon, "out of memory");
}

static void on_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	log_warn("lm", "no certificate reason=\"%s\", retrying in %lld s", why->text,
		 (long long)(retry_in / NSEC_PER_SEC));
}

static int ask_top(void *arg, const struct msg *m)
{
	struct program *p = arg;

	return lm_ask_top(p->lm, m);
}

static int open_lm(struct program *p, const struct lm_values *v, struct err *e)
{
	struct daemon *d = p->daemon;

	return lm_open(&(struct lm_conf){ .loop = daemon_loop(d),
					  .rng = daemon_rng(d),
					  .timebase = daemon_timebase(d),
					  .host = p->host,
					  .epoch = daemon_epoch(d),
					  .host_name = p->host_name,
					  .memfd = p->paths.memfd,
					  .socket = p->paths.socket,
					  .listener = (int)listen_fd,
					  .tracer = p->paths.tracer,
					  .guard = p->paths.guard,
					  .look = p->paths.look,
					  .plugin = p->paths.plugin,
					  .plugins = v->plugins,
					  .plugin_file = p->paths.plugins,
					  .journal = p->paths.journal,
					  .audit = p->paths.audit,
					  .baselines = p->paths.baselines,
					  .done = p->paths.done,
					  .spool = p->paths.spool,
					  .files = v->files,
					  .uid = getuid(),
					  .may_manipulate = v->manipulate,
					  .linger = v->linger,
					  .health = on_health,
					  .on_end = on_end,
					  .on_up = on_up,
					  .on_enrol_ack = on_enrol_ack,
					  .arg = p },
		       &p->lm, e);
}

static int open_join(struct program *p, const struct lm_values *v, struct err *e)
{
	return join_open(&(struct join_conf){ .loop = daemon_loop(p->daemon),
					      .dir = p->paths.base,
					      .conn = &p->conn,
					      .role = "lm",
					      .is_patient = true,
					      .site = v->site,
					      .host = p->host_name,
					      .on_ready = on_member,
					      .on_trouble = on_trouble,
					      .ask_top = ask_top,
					      .arg = p },
			 &p->join, e);
}

/* OMIG_MAINSM is not a key: connstr_find() adds to it the token of this user's own mainsm. */
static int find_mainsm(struct program *p, const struct lm_values *v, struct err *e)
{
	struct connstr_source from = { .given = v->mainsm,
				       .state_dir = daemon_state_dir(p->daemon),
				       .prefers_own = true };

	return connstr_find(&from, &p->conn, e);
}

static int check(const void *values, struct err *e)
{
	const struct lm_values *v = values;

	int rc = filelist_check(v->files, "files", e);

	return rc ? rc : filelist_check(v->plugins, "plugins", e);
}

static int check_start(struct daemon *d, struct err *e)
{
	const struct lm_values *v = daemon_conf(d);
	const struct connstr_source from = { .given = v->mainsm };
	struct connstr conn;
	int rc = *v->mainsm ? connstr_find(&from, &conn, e) : 0;

	str_wipe(&conn, sizeof(conn));
	return rc ? err_add(e, "mainsm") : 0;
}

static int start(struct daemon *d, int *exit_code, struct err *e)
{
	const struct lm_values *v = daemon_conf(d);
	struct program *p = daemon_user(d);
	int rc;

	p->daemon = d;
	/*
	 * Other processes of this user can still kill the lm, but must not read its key from its
	 * memory.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	rc = find_mainsm(p, v, e);
	if (rc) {
		*exit_code = DAEMON_USAGE;
		return rc;
	}
	rc = find_host_name(p, v->host, e);
	if (!rc)
		rc = fill_paths(p, e);
	if (!rc)
		rc = daemon_lock(d, p->paths.lock, e);
	if (!rc)
		rc = host_linux_open("/", daemon_loop(d), &p->host, e);
	if (!rc)
		rc = open_lm(p, v, e);
	if (!rc)
		rc = open_join(p, v, e);
	if (!rc)
		daemon_ready(d);
	return rc;
}

static int reload(struct daemon *d, const void *values, struct err *e)
{
	struct program *p = daemon_user(d);
	const struct lm_values *v = values;
	int rc = join_reload(p->join, e);

	if (!rc)
		lm_set_linger(p->lm, v->linger);
	return rc;
}

static void stop(struct daemon *d, const char *reason)
{
	struct program *p = daemon_user(d);

	if (p->lm)
		lm_stop(p->lm, reason);
	else
		daemon_end(d, DAEMON_OK);
}

static void status(struct daemon *d, struct buf *out)
{
	struct program *p = daemon_user(d);

	if (p->lm)
		lm_dump(p->lm, out);
}

/*
 * Ends without a gap, since processes may register at any moment and each must have an lm. A
 * process finds this lm, and the next lm adopts it; or it finds none, gets the lock and starts one.
 */
static void hand_over(struct program *p)
{
	if (lm_is_wanted(p->lm)) {
		successor.listener = lm_pass_socket(p->lm);
		successor.lock = daemon_pass_lock(p->daemon);
		return;
	}
	lm_withdraw(p->lm);
	daemon_unlock(p->daemon);
	if (lm_is_wanted(p->lm) && !daemon_lock(p->daemon, p->paths.lock, NULL))
		successor.lock = daemon_pass_lock(p->daemon);
}

/* The value follows in the same word, or in the next one. 0: it is another option. */
static int words_of(const char *word, const char *option)
{
	size_t n = strlen(option);

	if (strncmp(word, option, n) != 0)
		return 0;
	return word[n] == '=' ? 1 : word[n] ? 0 : 2;
}

/*
 * Returns the arguments of this process without the inherited descriptors. Ends with NULL; room for
 * 4 more words.
 */
static char **own_words(char **argv, size_t *n)
{
	size_t all = 0, skip;
	char **out;

	while (argv[all])
		all++;
	out = calloc(all + 5, sizeof(*out));
	*n = 0;
	for (size_t i = 0; out && i < all; i++) {
		skip = (size_t)words_of(argv[i], "--lock-fd") +
		       (size_t)words_of(argv[i], "--listen-fd");
		if (skip)
			i += skip - 1;
		else
			out[(*n)++] = argv[i];
	}
	return out;
}

void lm_daemon_go_on(char **argv)
{
	char lock[32], listener[32];
	char **words;
	size_t n;

	words = successor.lock < 0 ? NULL : own_words(argv, &n);
	if (!words)
		return;
	snprintf(lock, sizeof(lock), "--lock-fd=%d", successor.lock);
	snprintf(listener, sizeof(listener), "--listen-fd=%d", successor.listener);
	words[n++] = lock;
	if (successor.listener >= 0)
		words[n++] = listener;
	execv("/proc/self/exe", words);
	free(words);
}

static void done(struct daemon *d)
{
	struct program *p = daemon_user(d);

	if (p->lm && lm_has_lingered(p->lm))
		hand_over(p);
	lm_free(p->lm);
	join_free(p->join);
	host_free(p->host);
}

const struct daemon_spec lm_daemon_spec = {
	.program = "lm",
	.summary = "watches the processes of one user on one host",
	.details = "Started by the first watched process of a host, or by hand. It connects to the "
		   "mainsm of the\n"
		   "connection string, which sends it to the sm of its site.\n",
	.bytes = sizeof(struct program),
	.conf = &schema,
	.options = options,
	.inherited_fd = &listen_fd,
	.check = check,
	.check_start = check_start,
	.background = true,
	.start = start,
	.reload = reload,
	.stop = stop,
	.status = status,
	.done = done,
};
