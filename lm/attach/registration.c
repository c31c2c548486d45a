/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/events.h"
#include "lm/attach/registration.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/attach/chosen.h"
#include "lm/proc/hooks.h"
#include "lm/attach/registration_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refuse(struct registration *n, int32_t pid, const struct err *why)
{
	n->stats.refused++;
	n->conf.refused(n->conf.arg, pid, why);
}

void registration_refuse(struct registration *n, int32_t pid, const struct err *why)
{
	refuse(n, pid, why);
}

/*
 * The segment names its owner; a child that inherited it must not count as the owner. The pid of an
 * ended process in its own namespace is unknown here: a child does not register an inherited
 * segment.
 */
static int check_owner(struct registration *n, const struct segview *v, int32_t pid, bool adopted,
		       struct err *e)
{
	struct host_figures f;
	struct seg_own own;
	int rc;

	segview_own(v, &own);
	if (own.pid == pid)
		return 0;
	rc = host_figures(n->conf.host, pid, HOST_FIGURES_STATUS, &f, NULL);
	if (!rc ? f.inner_pid == own.pid : !adopted)
		return 0;
	return err_set(e, ERR_DENIED, "the segment belongs to process %d", (int)own.pid);
}

/*
 * Takes over a segment. Counting that an earlier lm has switched on continues; other words of that
 * lm are cleared.
 */
static int take(struct registration *n, struct proc_registration *in, bool adopted, struct err *e)
{
	struct proc *p;
	int rc;

	rc = check_owner(n, in->seg, in->pid, adopted, e);
	if (rc)
		return rc;
	if (adopted)
		hooks_found(in->seg, &in->left);
	segview_reset_but_events(in->seg);
	rc = procs_take(n->conf.procs, in, &p, e);
	if (!rc)
		events_settle(p);
	return rc;
}

static int try_fd(struct registration *n, int fd, int32_t pid, bool adopted, struct err *e)
{
	struct proc_registration in = { .pid = pid, .may_have_ended = !adopted };
	struct proc *p;
	struct stat st;
	int rc;

	rc = segview_open(fd, n->conf.uid, &in.seg, e);
	if (!rc && fstat(fd, &st) < 0)
		rc = err_sys(e, "fstat");
	p = !rc ? procs_find_segment(n->conf.procs, st.st_ino, pid) : NULL;
	if (p) {
		segview_free(in.seg);
		procs_poll_one(p); /* registered in both ways, or has become a rank */
		return 0;
	}
	if (!rc) {
		in.inode = st.st_ino;
		rc = take(n, &in, adopted, e);
	}
	segview_free(in.seg);
	if (!rc)
		n->stats.taken++;
	return rc;
}

static void unready_free(struct registration *n, struct unready *u)
{
	list_del(&u->link);
	n->nunready--;
	closer_close(n->closer, u->fd);
	free(u);
}

static void on_retry(void *arg)
{
	struct registration *n = arg;

	list_each_safe (i, &n->unready) {
		struct unready *u = list_entry(i, struct unready, link);
		struct err e = { 0 };
		int rc = try_fd(n, u->fd, u->pid, u->adopted, &e);

		if (rc == -ERR_AGAIN && ++u->tries < REGISTRATION_RETRIES_MAX)
			continue;
		if (rc)
			refuse(n, u->pid, &e);
		unready_free(n, u);
	}
	if (!list_is_empty(&n->unready))
		loop_timer_arm(n->retry, REGISTRATION_RETRY_NS);
}

/* Refuses the oldest segment that is not ready: such segments must not use all our descriptors. */
static void refuse_oldest(struct registration *n)
{
	struct unready *u = list_entry(list_first(&n->unready), struct unready, link);
	struct err e = { 0 };

	err_set(&e, ERR_LIMIT, "the segment is not set up yet, and too many others are not");
	refuse(n, u->pid, &e);
	unready_free(n, u);
}

static int keep_unready(struct registration *n, int fd, int32_t pid, bool adopted)
{
	struct unready *u = calloc(1, sizeof(*u));

	if (!u)
		return -ERR_NOMEM;
	*u = (struct unready){ .fd = fd, .pid = pid, .adopted = adopted };
	list_push_back(&n->unready, &u->link);
	if (++n->nunready > REGISTRATION_UNREADY_MAX)
		refuse_oldest(n);
	if (!loop_timer_is_armed(n->retry))
		loop_timer_arm(n->retry, REGISTRATION_RETRY_NS);
	return -ERR_AGAIN;
}

int registration_segment(struct registration *n, int fd, int32_t pid, bool adopted)
{
	struct err e = { 0 };
	int rc = try_fd(n, fd, pid, adopted, &e);

	if (rc == -ERR_AGAIN && keep_unready(n, fd, pid, adopted) == -ERR_AGAIN)
		return rc;
	if (rc)
		refuse(n, pid, &e);
	closer_close(n->closer, fd);
	return rc;
}

static void note_other_build(struct registration *n, int32_t pid, const struct err *why)
{
	size_t i = 0;

	n->stats.refused++;
	n->stats.of_other_builds++;
	while (i < n->nunwatched && !str_eq(n->unwatched[i].why, why->text))
		i++;
	if (i == ARRAY_LEN(n->unwatched))
		return;
	if (i == n->nunwatched) {
		n->nunwatched++;
		n->unwatched[i] = (struct unwatched){ .pid = pid };
		str_copy(n->unwatched[i].why, sizeof(n->unwatched[i].why), why->text);
	}
	n->unwatched[i].n++;
}

static void report_other_builds(struct registration *n)
{
	for (size_t i = 0; i < n->nunwatched; i++) {
		const struct unwatched *u = &n->unwatched[i];
		struct err e = { 0 };

		if (u->n > 1)
			err_set(&e, ERR_UNSUPPORTED, "%s, as for %zu more", u->why, u->n - 1);
		else
			err_set(&e, ERR_UNSUPPORTED, "%s", u->why);
		n->conf.refused(n->conf.arg, u->pid, &e);
	}
	n->nunwatched = 0;
}

/*
 * Children that inherited the descriptor show it too, so other processes than the owner are skipped
 * silently.
 */
static void on_memfd(void *arg, int32_t pid, int fd)
{
	struct registration *n = arg;
	struct err e = { 0 };
	int rc = try_fd(n, fd, pid, true, &e);

	if (rc == -ERR_AGAIN && keep_unready(n, fd, pid, true) == -ERR_AGAIN)
		return;
	if (rc == -ERR_UNSUPPORTED)
		note_other_build(n, pid, &e);
	else if (rc && rc != -ERR_DENIED && rc != -ERR_NOTFOUND)
		refuse(n, pid, &e);
	closer_close(n->closer, fd);
}

size_t registration_adopt(struct registration *n)
{
	uint64_t taken;

	/*
	 * Waiting processes are first: no other lm had them, and they may end while /proc is
	 * examined.
	 */
	registration_take_waiting(n);
	taken = n->stats.taken;
	host_each_memfd(n->conf.host, n->memfd, on_memfd, n);
	report_other_builds(n);
	taken = n->stats.taken - taken;
	n->stats.adopted += taken;
	chosen_wake(n->chosen);
	return (size_t)taken;
}

static struct chosen *open_chosen(const struct registration *n)
{
	return chosen_new(&(struct chosen_conf){ .loop = n->conf.loop,
						 .host = n->conf.host,
						 .procs = n->conf.procs,
						 .caid = n->memfd + strcspn(n->memfd, "-") + 1,
						 .refused = n->conf.refused,
						 .arg = n->conf.arg });
}

int registration_open(const struct registration_conf *c, struct registration **out, struct err *e)
{
	struct registration *n = calloc(1, sizeof(*n));
	int rc = 0;

	if (!n)
		return err_nomem(e);
	n->conf = *c;
	n->listen_fd = -1;
	memset(n->spare, -1, sizeof(n->spare));
	list_init(&n->visitors);
	list_init(&n->unready);
	n->retry = loop_timer_new(c->loop, on_retry, n);
	n->memfd = str_dup(c->memfd);
	n->socket = c->socket ? str_dup(c->socket) : NULL;
	n->closer = closer_new();
	n->chosen = n->memfd ? open_chosen(n) : NULL;
	if (!n->retry || !n->memfd || !n->closer || !n->chosen || (c->socket && !n->socket))
		rc = err_nomem(e);
	if (!rc && c->socket)
		rc = registration_listen(n, e);
	if (rc) {
		registration_close(n);
		return rc;
	}
	*out = n;
	return 0;
}

void registration_close(struct registration *n)
{
	if (!n)
		return;
	registration_unlisten(n);
	list_each_safe (i, &n->unready)
		unready_free(n, list_entry(i, struct unready, link));
	chosen_free(n->chosen);
	loop_timer_free(n->retry);
	closer_free(n->closer);
	free(n->socket);
	free(n->memfd);
	free(n);
}

bool registration_is_resting(const struct registration *n)
{
	return n->is_resting;
}

void registration_stats(const struct registration *n, struct registration_stats *out)
{
	*out = n->stats;
}
