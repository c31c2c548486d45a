/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/setup/setup.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/hook.h"
#include "libapp/hot/real.h"
#include "libapp/setup/events.h"
#include "libapp/setup/function_area.h"
#include "libapp/setup/probe.h"
#include "libapp/vertex/vertex.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_BYTES 256
/*
 * When an lm starts, its socket exists within some 20 us. A process that has not found it by then
 * is found by the lm, if it runs long enough.
 */
#define MEET_NS NSEC_PER_MSEC

/* Returns the length of the text in front of "+messages". */
static size_t start_bytes(const char *want)
{
	static const char end[] = "+messages";
	size_t n = want ? strlen(want) : 0;

	if (n >= sizeof(end) - 1 && str_eq(want + n - (sizeof(end) - 1), end))
		n -= sizeof(end) - 1;
	return n;
}

static uint32_t start_word(void)
{
	enum { VOLUME = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME };
	static const struct {
		const char *name;
		uint32_t word;
	} words[] = {
		{ "off", 0 },
		{ "count", HOOK_COUNT },
		{ "time", HOOK_COUNT | HOOK_TIME },
		{ "volume", VOLUME },
		{ "volume+site", VOLUME | HOOK_SITE },
		{ "partner", VOLUME | HOOK_PARTNER },
		{ "partner+site", VOLUME | HOOK_PARTNER | HOOK_SITE },
	};
	const char *want = setup_env("OMIG_START");
	size_t n = start_bytes(want);

	for (size_t i = 0; want && i < ARRAY_LEN(words); i++)
		if (strlen(words[i].name) == n && !strncmp(want, words[i].name, n))
			return words[i].word | (want[n] ? HOOK_MESSAGE : 0);
	return 0;
}

static void start_hooks(void)
{
	uint32_t word = start_word();

	app_header()->w.start_word = word;
	for (unsigned i = 0; i < CALL_COUNT; i++)
		__atomic_store_n(&hook_word[i], word, __ATOMIC_RELEASE);
}

/* Set-up in progress at the fork counts as done. */
static void on_fork_child(void)
{
	int saved = errno;
	bool is_rank = app_state.life == APP_RANK || app_state.life == APP_OVER;

	app_state.life = is_rank ? APP_OVER : APP_FORKED;
	segment_detach();
	launch_detach();
	events_forget();
	mounts_forget();
	if (!is_rank) {
		hook_thread = (struct hook_thread){ .now = &hook_nowhere };
		probes_wake();
	}
	errno = saved;
}

/*
 * Registers with an lm that is being started: its socket is made before the lm starts, by this or
 * another process. Returns false if there is none.
 */
static bool meet_starting(const char *runtime, const char *host, const char *caid)
{
	nsec_t end = clock_mono() + MEET_NS;

	while (!register_with_lm(runtime, host, caid)) {
		if ((errno != ENOENT && errno != ECONNREFUSED) || clock_mono() >= end) {
			setup_say("met no lm", errno);
			return false;
		}
		sched_yield(); /* it may have this processor */
	}
	return true;
}

/* Finds the lm's address: char runtime[FILE_PATH_BYTES], host[HOST_BYTES]. */
static bool find_lm(char *runtime, char *host)
{
	if (app_state.gate)
		return str_copy(runtime, FILE_PATH_BYTES, app_state.gate->runtime) &&
		       str_copy(host, HOST_BYTES, app_state.gate->host);
	if (!setup_env("OMIG_MAINSM") || gethostname(host, HOST_BYTES) != 0)
		return false;
	host[HOST_BYTES - 1] = 0;
	if (!file_runtime_dir(runtime, NULL))
		return true;
	setup_say("no runtime directory", 0);
	return false;
}

static void meet_lm(const char *caid)
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES];
	enum launched launched;

	if (!find_lm(runtime, host) || register_with_lm(runtime, host, caid))
		return;
	setup_say("no lm listens", errno);
	if (app_state.gate)
		return; /* the next lm finds the segment */
	launched = launch_lm(runtime, host, caid);
	if (launched == LAUNCH_NONE || meet_starting(runtime, host, caid))
		return;
	/* The holder of the lock may have been an lm that was ending. */
	if (launched == LAUNCH_HELD && launch_lm(runtime, host, caid) == LAUNCH_STARTED)
		register_with_lm(runtime, host, caid);
}

static bool make(const char *caid)
{
	if (!segment_make(caid))
		return false;
	if (pthread_atfork(NULL, NULL, on_fork_child) == 0)
		return true;
	segment_detach();
	app_state.base = NULL;
	return false;
}

/* A reader that finds the segment finds it whole. */
static void show(enum seg_state state, enum app_life life)
{
	app_header()->w.pcontrol = 1;
	app_header()->w.state = state;
	/* Before an lm can have found the segment: after that the words belong to the lm. */
	start_hooks();
	if (life == APP_RANK)
		vertex_open(events_announce);
	__atomic_store_n(&app_header()->magic, SEG_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&app_state.life, life, __ATOMIC_RELEASE);
}

/* A program that was entered later has made an unknown number of calls. */
static void number_collectives(void)
{
	app_header()->w.numbers_collectives = !app_state.gate && collective_open();
}

static void set_up(void (*resolve_all)(void))
{
	char caid[SEG_CAID_CHARS + 1];
	bool known;

	seg_caid(setup_env("OMIG_MAINSM"), caid);
	known = flavour_open();
	if (!known)
		setup_say("not an MPI library that omig knows: no bytes, no partners", 0);
	if (!make(caid))
		return;
	identity_fill(&app_header()->w, true);
	if (known)
		comm_open();
	resolve_all();
	modules_note();
	number_collectives();
	probes_find();
	functions_offer(function_pass);
	events_ready(true);
	mounts_ready();
	show(SEG_RUNNING, APP_RANK);
	meet_lm(caid);
}

/*
 * For a process that was set up before MPI_Init. Its state changes last: then its lm reads the
 * rest.
 */
static void become_rank(void (*resolve_all)(void))
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES], caid[SEG_CAID_CHARS + 1];
	bool known = flavour_open();

	identity_fill(&app_header()->w, true);
	if (known)
		comm_open();
	resolve_all();
	modules_note();
	number_collectives();
	vertex_open(events_announce);
	__atomic_store_n(&app_header()->w.state, SEG_RUNNING, __ATOMIC_RELEASE);
	seg_caid(setup_env("OMIG_MAINSM"), caid);
	if (segment_is_held() && find_lm(runtime, host))
		register_with_lm(runtime, host, caid);
}

static bool has_begun(void)
{
	static int begun;

	return __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL);
}

/* --- without MPI */

static void set_up_without_mpi(void)
{
	char caid[SEG_CAID_CHARS + 1];

	seg_caid(setup_env("OMIG_MAINSM"), caid);
	if (!make(caid))
		return;
	identity_fill(&app_header()->w, false);
	probes_find();
	functions_offer(function_pass);
	events_ready(false);
	mounts_ready();
	show(SEG_WITHOUT_MPI, APP_WITHOUT_MPI);
	meet_lm(caid);
}

/* Runs in a thread with its own descriptors. Starts no lm: the parent has done that. */
static int live_again(void *arg)
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES], caid[SEG_CAID_CHARS + 1];

	seg_caid(setup_env("OMIG_MAINSM"), caid);
	if (!segment_make(caid))
		return 0;
	identity_fill(&app_header()->w, false);
	probes_renew();
	functions_offer(function_pass);
	show(SEG_WITHOUT_MPI, APP_WITHOUT_MPI);
	if (find_lm(runtime, host))
		register_with_lm(runtime, host, caid);
	return 0;
}

static void follow(void)
{
	int forked = APP_FORKED, under_way = APP_NONE;

	if (!__atomic_compare_exchange_n(&app_state.life, &forked, APP_NONE, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	launch_apart(live_again);
	__atomic_compare_exchange_n(&app_state.life, &under_way, APP_OVER, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

void setup_without_mpi(void)
{
	int saved = errno;

	if (__atomic_load_n(&app_state.life, __ATOMIC_ACQUIRE) == APP_FORKED)
		follow();
	else if (app_state.life == APP_NONE && setup_is_named() && !real_has_mpi() && !has_begun())
		set_up_without_mpi();
	errno = saved;
}

/* --- with MPI */

void setup_run(void (*resolve_all)(void))
{
	int saved = errno, before = APP_WITHOUT_MPI;

	if (setup_is_disabled())
		return;
	if (!has_begun()) {
		set_up(resolve_all);
	} else {
		follow();
		if (__atomic_compare_exchange_n(&app_state.life, &before, APP_RANK, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			become_rank(resolve_all);
	}
	errno = saved;
}

static void note_entry(struct seg_own *own)
{
	nsec_t since = clock_mono() - own->start_ns;
	uint32_t s = since > 0 ? (uint32_t)((since + NSEC_PER_SEC - 1) / NSEC_PER_SEC) : 0;

	__atomic_store_n(&own->entered_s, s, __ATOMIC_RELEASE);
}

bool setup_entered(void (*resolve_all)(void))
{
	char runtime[FILE_PATH_BYTES], host[HOST_BYTES], caid[SEG_CAID_CHARS + 1];

	if (app_state.life != APP_RANK) {
		setup_run(resolve_all);
		return app_state.life == APP_RANK;
	}
	seg_caid(setup_env("OMIG_MAINSM"), caid);
	if (!segment_is_held())
		return false;
	note_entry(&app_header()->w);
	if (find_lm(runtime, host))
		register_with_lm(runtime, host, caid); /* else the next lm finds the segment */
	return true;
}

void setup_finalize(void)
{
	if (!app_state.base)
		return;
	__atomic_store_n(&app_header()->w.state, SEG_FINALIZED, __ATOMIC_RELEASE);
	comm_close();
}
