/* SPDX-License-Identifier: Apache-2.0 */
/* The health of the process, and the limits that it sets for itself. */
#include "common/base/spawn_env.h"
#include "common/base/str.h"
#include "common/daemon/daemon_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_TICKS 30
/* ten thousand links with some room; tables of the kernel grow with the limit */
#define FDS_MAX 65536

void lag_note(struct lag *g, nsec_t late)
{
	g->last = late > 0 ? late : 0;
	if (g->ticks++ % WINDOW_TICKS == 0) {
		g->max[1] = g->max[0];
		g->max[0] = 0;
	}
	if (g->last > g->max[0])
		g->max[0] = g->last;
}

static int64_t rss_bytes(void)
{
	struct buf text = BUF_INIT(256);
	int64_t pages = 0;
	char *end = NULL;

	if (!file_read_at(AT_FDCWD, "/proc/self/statm", 256, &text, NULL)) {
		strtoll(buf_str(&text), &end, 10);
		pages = end ? strtoll(end, NULL, 10) : 0;
	}
	buf_done(&text);
	return pages * sysconf(_SC_PAGESIZE);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -3; /* without ".", ".." and the descriptor of the directory */

	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

void health_measure(struct daemon_health *h)
{
	struct rlimit r = { 0 };

	getrlimit(RLIMIT_NOFILE, &r);
	h->fd_limit = r.rlim_cur > INT32_MAX ? INT32_MAX : (int)r.rlim_cur;
	h->fds = count_fds();
	h->rss_bytes = rss_bytes();
}

/* Stores the limits for the programs that we start, unless our parent has done so. */
static void note_spawn_env(mode_t mask, const struct rlimit *files, const struct rlimit *core)
{
	char text[64];

	snprintf(text, sizeof(text), "%o %llu %llu", (unsigned)mask,
		 (unsigned long long)files->rlim_cur, (unsigned long long)core->rlim_cur);
	setenv(ENV_SPAWN, text, 0);
}

void process_harden(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit r, core = { 0 };
	mode_t mask = umask(077);

	/*
	 * A daemon that a rank has started has the rank's limits: a file that may not grow must be
	 * an error, not our end.
	 */
	sigaction(SIGXFSZ, &ignore, NULL);
	getrlimit(RLIMIT_CORE, &core);
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		note_spawn_env(mask, &r, &core);
		r.rlim_cur = r.rlim_max < FDS_MAX ? r.rlim_max : FDS_MAX;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, core.rlim_max });
#ifndef UNDER_SANITIZER
	/*
	 * No debugger may read our keys. A sanitizer's leak check must be able to attach, so it is
	 * excepted.
	 */
	prctl(PR_SET_DUMPABLE, 0);
#endif
}
