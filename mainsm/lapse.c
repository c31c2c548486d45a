/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that end by time: the tokens of ended jobs, and tools whose certificate has expired. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/loop/loop.h"
#include "mainsm/mainsm_internal.h"

#include <string.h>

/* interval of the checks of all processes: a small part of the idle time of a token */
#define JOBS_PERIOD_NS (TOKEN_JOB_IDLE_NS / 96)
#define STEP_HEAD "slurm-" /* JOB.STEP: the form that libomig gives to the name of a step */

/* The names of jobs that have processes. */
struct jobs {
	struct smap names;
	/* the last name that was stored: most processes of a host are of one job */
	const char *last;
	bool failed;
};

static void note(struct jobs *jobs, const char *name)
{
	jobs->failed |= smap_put(&jobs->names, name, jobs, NULL) != 0;
}

/* A job of Slurm exists until the last of its steps has ended. */
static void note_job(struct jobs *jobs, const char *name)
{
	char job[NAME_MAX_BYTES + 1];

	if (!name || !name[0] || (jobs->last && str_eq(name, jobs->last)))
		return;
	jobs->last = name;
	note(jobs, name);
	if (!str_has_prefix(name, STEP_HEAD) ||
	    !str_copy(job, sizeof(job), name + strlen(STEP_HEAD)))
		return;
	job[strcspn(job, ".")] = 0;
	note(jobs, job);
}

static void note_host(struct jobs *jobs, const struct object *node)
{
	list_each (i, &node->children) {
		const struct object *proc = list_entry(i, struct object, sibling);

		if (proc->state != MSG_STATE_ENDED)
			note_job(jobs, proc->job);
	}
}

static void note_all(struct jobs *jobs, const struct mainsm *m)
{
	list_each (i, directory_sites(m->directory))
		list_each (k, &list_entry(i, struct object, sibling)->children)
			note_host(jobs, list_entry(k, struct object, sibling));
}

static bool lives(void *arg, const char *job)
{
	const struct jobs *jobs = arg;

	return smap_find(&jobs->names, job);
}

static void keep_jobs(struct mainsm *m, nsec_t wall)
{
	struct jobs jobs = { .last = NULL };
	struct err e = { 0 };
	bool did_fail = m->tokens_fail;

	smap_init(&jobs.names);
	note_all(&jobs, m);
	/* Without memory for the names, no job is considered ended until the next time. */
	if (!jobs.failed)
		m->tokens_fail = tokens_keep_jobs(m->tokens, lives, &jobs, wall, &e) != 0;
	smap_done(&jobs.names);
	if (m->tokens_fail && !did_fail)
		log_error(
			"state",
			"tokens of jobs are not saved, a restart would forget that they go on: %s",
			e.text);
}

/*
 * True if a session must end. The session of a foreign tool ends with its certificate, whose
 * lifetime the user has chosen. Certificates of the user's own tools are checked for new links
 * only. So a measurement may last longer than ninety days.
 */
static bool has_ended(const struct peer *p, nsec_t wall)
{
	const struct identity *id = p->session ? link_identity(p->link) : NULL;

	return id && !id->has_uid && id->owner[0] && id->wall_not_after <= wall;
}

void mainsm_lapse(struct mainsm *m)
{
	nsec_t wall = m->conf.wall_now(m->conf.arg), now = loop_now(m->conf.loop);

	if (now - m->jobs_checked_at >= JOBS_PERIOD_NS) {
		m->jobs_checked_at = now;
		keep_jobs(m, wall);
	}
	list_each_safe (i, &m->peers) {
		struct peer *p = list_entry(i, struct peer, in_peers);

		if (has_ended(p, wall))
			link_fail(p->link, MSG_ERR_DENIED,
				  "your certificate has ended: take a new connection string");
	}
}
