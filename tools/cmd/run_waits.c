/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/run_waits.h"

#include "common/base/hash.h"
#include "tools/launch/beside.h"
#include "tools/session/session.h"
#include "tools/view/top_waits.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define CAUSES_MAX 16 /* lines per run: a program with more of them is not hanging */

struct watch {
	const struct run_waits *conf;
	uint64_t cause[CAUSES_MAX]; /* reported */
	size_t causes;
};

/* A hash of the wait's kind and ranks, without its time. */
static uint64_t cause_of(const struct top_wait *w)
{
	const struct hash_key key = { (uint64_t)w->kind, 0 };

	return hash_sip13(&key, w->text, strlen(w->text));
}

/* A rank that computes while others wait for it is normal: only `omig top` shows that. */
static void on_wait(void *arg, const struct top_wait *w)
{
	struct watch *of = arg;
	uint64_t cause = cause_of(w);
	char line[TOP_WAIT_LINE_BYTES];

	if (w->kind == TOP_WAIT_OTHERS || w->seconds * 1e9 < (double)of->conf->least)
		return;
	for (size_t i = 0; i < of->causes; i++)
		if (of->cause[i] == cause)
			return;
	if (of->causes == CAUSES_MAX)
		return;
	of->cause[of->causes++] = cause;
	cmd_warn("%s", top_wait_line(line, sizeof(line), w));
}

/* The connection lasts for one sample: mainsm's places for tools are limited. */
static void look(struct watch *of)
{
	struct cmd_common common = CMD_COMMON_INIT;
	struct top_sample s = { 0 };
	char words[256] = "";
	int rc;

	common.mainsm = of->conf->mainsm;
	cmd_hush(words, sizeof(words));
	rc = session_open(&common);
	if (rc == CMD_OK) {
		rc = top_sample_read(&s, of->conf->job);
		session_close();
	}
	cmd_hush(NULL, 0);
	if (rc == CMD_OK)
		top_waits(&s, on_wait, of);
	top_sample_done(&s);
}

/* The reader of stderr waits for its end: a request under way must not delay that. */
static void end_at_once(void)
{
	_exit(0);
}

static void watch(void *arg)
{
	const struct run_waits *conf = arg;
	const struct timespec nap = { .tv_sec = (time_t)(conf->least / NSEC_PER_SEC),
				      .tv_nsec = (long)(conf->least % NSEC_PER_SEC) };
	struct watch of = { .conf = conf };

	while (of.causes < CAUSES_MAX) {
		nanosleep(&nap, NULL);
		look(&of);
	}
}

void run_waits_start(const struct run_waits *w)
{
	struct run_waits conf = *w;

	if (w->least > 0)
		beside_start(&(struct beside){ watch, end_at_once, &conf });
}
