/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/setup.h"

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/ring/calls_id.h"
#include "libapp/app_state.h"
#include "libapp/comm.h"
#include "libapp/events.h"
#include "libapp/flavour.h"
#include "libapp/hook.h"
#include "libapp/probe.h"
#include "libapp/wrap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_BYTES 256
/*
 * Where an lm starts, its socket is there within some 20 us. Who has not met it by then is found by the lm, if it lives
 * long enough.
 */
#define MEET_NS NSEC_PER_MSEC

struct app_state app_state = { .fd = -1, .rank = -1, .world_size = -1, .lm_lock = -1, .lm_listener = -1 };

const char *setup_env(const char *name)
{
	const char *v = secure_getenv(name);

	return v && *v ? v : NULL;
}

void setup_say(const char *what, int code)
{
	char line[256];
	int n;

	if (!setup_env("OMIG_DEBUG"))
		return;
	n = snprintf(line, sizeof(line), "omig[%d]: %s%s%s\n", (int)getpid(), what, code ? ": " :
			"",
		     code ? strerrordesc_np(code) : "");
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n :
			sizeof(line) - 1) < 0)
		return;
}

static uint32_t start_word(void)
{
	const char *want = setup_env("OMIG_START");

	if (want && str_eq(want, "count"))
		return HOOK_COUNT;
	if (want && str_eq(want, "time"))
		return HOOK_COUNT | HOOK_TIME;
	if (want && str_eq(want, "volume"))
		return HOOK_COUNT | HOOK_TIME | HOOK_VOLUME;
	return 0;
}

void setup_start(void)
{
	uint32_t word = start_word();

	app_header()->w.start_word = word;
	for (unsigned i = 0; i < CALL_COUNT; i++)
		__atomic_store_n(&hook_word[i], word, __ATOMIC_RELEASE);
}

static void on_fork_child(void)
{
	int saved = errno;

	segment_detach();
	launch_detach();
	errno = saved;
}

/* Whoever starts it, this process or another one at this moment, makes its socket first. */
static void meet_starting(const char *runtime, const char *host, const char *caid)
{
	nsec_t end = clock_mono() + MEET_NS;

	while (!register_with_lm(runtime, host, caid)) {
		if ((errno != ENOENT && errno != ECONNREFUSED) || clock_mono() >= end) {
			setup_say("met no lm", errno);
			return;
		}
		sched_yield(); /* it may have this processor */
	}
}

static void meet_lm(const char *caid)
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES];

	if (!setup_env("OMIG_MAINSM") || gethostname(host, sizeof(host)) != 0)
		return;
	host[sizeof(host) - 1] = 0;
	if (file_runtime_dir(runtime, NULL) < 0) {
		setup_say("no runtime directory", 0);
		return;
	}
	if (register_with_lm(runtime, host, caid))
		return;
	setup_say("no lm listens", errno);
	if (launch_lm(runtime, host, caid))
		meet_starting(runtime, host, caid);
}

static void set_up(void)
{
	char caid[SEG_CAID_CHARS + 1];
	bool known;

	seg_caid(setup_env("OMIG_MAINSM"), caid);
	known = flavour_open();
	if (!known)
		setup_say("not an MPI library that omig knows: no bytes, no partners", 0);
	if (!segment_make(caid))
		return;
	if (pthread_atfork(NULL, NULL, on_fork_child) != 0) {
		segment_detach();
		app_state.base = NULL;
		return;
	}
	identity_fill(&app_header()->w);
	if (known)
		comm_open();
	wrap_resolve_all();
	probes_find();
	events_ready();
	app_header()->w.pcontrol = 1;
	app_header()->w.state = SEG_RUNNING;
	setup_start(); /* before an lm can have found the segment: from then on the words are the lm's */
	__atomic_store_n(&app_header()->magic, SEG_MAGIC, __ATOMIC_RELEASE);
	meet_lm(caid);
}

void setup_run(void)
{
	static int begun;
	const char *disable = setup_env("OMIG_DISABLE");
	int saved = errno;

	if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL) ||
	    (disable && !str_eq(disable, "0")))
		return;
	set_up();
	errno = saved;
}

void setup_finalize(void)
{
	if (!app_state.base)
		return;
	__atomic_store_n(&app_header()->w.state, SEG_FINALIZED, __ATOMIC_RELEASE);
	comm_close();
}
