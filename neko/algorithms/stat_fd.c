/* SPDX-License-Identifier: Apache-2.0 */
/* Quality of service of failure detectors, from their events. */
#include "neko/algorithms/fd.h"
#include "neko/stat/stat.h"

#include <stdlib.h>
#include <string.h>

enum { T_M, T_MR, P_A, T_D, DELAY, NQUANTITY };

/* The view of one process on the monitored process. */
struct view {
	nsec_t since; /* start of the present suspicion or trust */
	nsec_t began; /* start of the last mistake; -1: none yet */
	nsec_t since_error, began_error; /* clock errors of `since` and `began` */
	nsec_t window_at, trusted; /* start of the current window, and time of trust in it */
	uint32_t monitored;
	bool is_suspected;
};

struct stat_fd {
	struct statset set;
	struct view *view; /* owned, by process */
	nsec_t *crashed; /* owned, by process: time of the crash; -1: it is up */
	nsec_t *crashed_error; /* owned */
	uint32_t m;
	nsec_t window;
};

static const struct neko_row rows[] = { { "T_M", "s", true },	 { "T_MR", "s", true },
					{ "P_A", NULL, false },	 { "T_D", "s", false },
					{ "delay", "s", false }, { NULL, NULL, false } };

static void fd_done(void *arg)
{
	struct stat_fd *h = arg;

	if (!h)
		return;
	statset_done(&h->set);
	free(h->view);
	free(h->crashed);
	free(h->crashed_error);
	free(h);
}

static int configure(struct stat_fd *h, struct setup *s, struct err *e)
{
	nsec_t eta = NSEC_PER_SEC;
	int rc = setup_nsec(s, "fd.eta", 1, FD_TIME_MAX, &eta, e);

	h->window = eta * 100;
	if (!rc)
		rc = setup_nsec(s, "stat.window", eta, INT64_MAX / 4, &h->window, e);
	return rc ? rc : statset_open(&h->set, rows, s, e);
}

static int fd_init(const struct stat_kind *k, struct setup *s, uint32_t m, void **out,
		   struct err *e)
{
	struct stat_fd *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return err_nomem(e);
	h->m = m;
	h->view = calloc(m, sizeof(*h->view));
	h->crashed = calloc(m, sizeof(*h->crashed));
	h->crashed_error = calloc(m, sizeof(*h->crashed_error));
	rc = h->view && h->crashed && h->crashed_error ? configure(h, s, e) : err_nomem(e);
	if (rc)
		fd_done(h);
	else
		*out = h;
	return rc;
}

static int fd_begin(void *arg, uint32_t m)
{
	struct stat_fd *h = arg;

	statset_begin(&h->set);
	for (uint32_t i = 0; i < h->m; i++) {
		h->view[i] = (struct view){ .began = -1 };
		h->crashed[i] = -1;
	}
	return 0;
}

/*
 * Ends windows of equal length, each with its fraction of trust. A mistake counts in all windows
 * that it overlaps.
 */
static void pass_windows(struct stat_fd *h, struct view *v, nsec_t now)
{
	nsec_t from = v->since > v->window_at ? v->since : v->window_at, end;

	if (now <= v->window_at)
		return;
	while ((end = v->window_at + h->window) <= now) {
		if (!v->is_suspected)
			v->trusted += end - from;
		statset_add(&h->set, P_A, (double)v->trusted / (double)h->window, 0);
		v->window_at = from = end;
		v->trusted = 0;
	}
	if (!v->is_suspected)
		v->trusted += now - from;
}

static double seconds(nsec_t ns)
{
	return (double)ns / 1e9;
}

static bool is_up(const struct stat_fd *h, uint32_t id)
{
	return id - 1 < h->m && h->crashed[id - 1] < 0;
}

static void start_suspect(struct stat_fd *h, struct view *v, const struct neko_event *e)
{
	nsec_t at = e->at;

	if (is_up(h, v->monitored)) {
		pass_windows(h, v, at);
		if (v->began >= 0)
			statset_add(&h->set, T_MR, seconds(at - v->began),
				    v->began_error + e->error);
		v->began = at;
		v->began_error = e->error;
	}
	v->is_suspected = true;
	v->since = at;
	v->since_error = e->error;
}

static void stop_suspect(struct stat_fd *h, struct view *v, const struct neko_event *e)
{
	nsec_t at = e->at;

	if (is_up(h, v->monitored)) {
		pass_windows(h, v, at);
		if (v->is_suspected)
			statset_add(&h->set, T_M, seconds(at - v->since),
				    v->since_error + e->error);
	}
	v->is_suspected = false;
	v->since = at;
	v->since_error = e->error;
}

/* The first window is not counted, because the first heartbeat has yet to arrive. */
static void start_watch(struct stat_fd *h, struct view *v, const struct neko_event *e)
{
	uint64_t id;

	if (!neko_number(e, &id) || id < 1 || id > h->m)
		return;
	v->monitored = (uint32_t)id;
	v->since = e->at;
	v->since_error = e->error;
	v->window_at = e->at + h->window;
}

/* Ends the view of a crashed process. */
static void crash(struct stat_fd *h, uint32_t id, nsec_t at, nsec_t error)
{
	for (uint32_t i = 0; i < h->m; i++) {
		struct view *v = &h->view[i];
		bool is_open = v->monitored && is_up(h, v->monitored) && is_up(h, i + 1);

		if (is_open && (v->monitored == id || i + 1 == id))
			pass_windows(h, v, at);
	}
	h->crashed[id - 1] = at;
	h->crashed_error[id - 1] = error;
}

static void fd_handle(void *arg, const struct neko_event *e)
{
	struct stat_fd *h = arg;
	struct view *v = &h->view[e->process - 1];

	h->set.now = e->at;
	if (strcmp(e->what, FD_DELAY) == 0)
		statset_add(&h->set, DELAY, e->content, e->content_error);
	else if (strcmp(e->what, FD_START) == 0)
		start_suspect(h, v, e);
	else if (strcmp(e->what, FD_STOP) == 0)
		stop_suspect(h, v, e);
	else if (strcmp(e->what, FD_WATCH) == 0)
		start_watch(h, v, e);
	else if (strcmp(e->what, NEKO_CRASHED) == 0)
		crash(h, e->process, e->at, e->error);
}

static bool fd_should_stop(void *arg)
{
	return statset_is_done(&((struct stat_fd *)arg)->set);
}

static void detected(struct stat_fd *h, const struct view *v)
{
	nsec_t crashed = h->crashed[v->monitored - 1];

	if (v->is_suspected)
		statset_add(&h->set, T_D, v->since > crashed ? seconds(v->since - crashed) : 0,
			    v->since_error + h->crashed_error[v->monitored - 1]);
}

/*
 * A crashed process that is suspected at the end was detected when that suspicion began; T_D is 0
 * if that was before the crash. A mistake that has not ended does not count, as its length is
 * unknown.
 */
static void fd_end(void *arg, nsec_t now)
{
	struct stat_fd *h = arg;

	h->set.now = now;
	for (uint32_t i = 0; i < h->m; i++) {
		struct view *v = &h->view[i];

		if (!v->monitored || h->crashed[i] >= 0)
			continue;
		if (is_up(h, v->monitored))
			pass_windows(h, v, now);
		else
			detected(h, v);
	}
	statset_end(&h->set);
}

static bool fd_has_rule(const void *arg)
{
	return statset_has_rule(&((const struct stat_fd *)arg)->set);
}

static size_t fd_results(void *arg, struct stat_result *out)
{
	return statset_results(&((struct stat_fd *)arg)->set, out);
}

const struct stat_kind stat_fd = {
	.name = "fd",
	.init = fd_init,
	.begin = fd_begin,
	.handle = fd_handle,
	.should_stop = fd_should_stop,
	.has_rule = fd_has_rule,
	.end = fd_end,
	.results = fd_results,
	.done = fd_done,
};
