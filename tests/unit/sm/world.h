/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An sm in a network of memory under a virtual clock. A test plays its mainsm and lms. An lm
 * answers each action with the tokens of its request, unless it is silenced.
 */
#ifndef TESTS_UNIT_SM_WORLD_H
#define TESTS_UNIT_SM_WORLD_H

#include "common/base/str.h"
#include "common/container/map.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/member/parent.h"
#include "common/net/mem.h"
#include "common/omis/omis.h"
#include "sm/node/sm.h"
#include "tests/fakes/branch.h"
#include "tests/fakes/identity.h"
#include "tests/fakes/messages.h"
#include "tests/fakes/upper.h"
#include "tree/wire.h"

#include <check.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define TEXT 1024
#define LMS 4
#define BELOWS 2
#define TOP_PORT 7000
#define OBJECTS_SEEN 4096
#define WORLD_WALL (INT64_C(1700000000) * SEC)

struct world;

/* The entry of one object in the fake mainsm. */
struct seen {
	char token[TOKEN_BYTES], parent[TOKEN_BYTES], name[64], host[64];
	uint32_t state, sub;
	bool is_there;
};

struct top {
	struct world *w;
	struct upper up; /* up.link: of the sm */
	uint32_t site_number;
	char listen[TEXT]; /* address that the sm reports */
	char to[TEXT]; /* and where lms are sent */
	uint32_t gives; /* number for each lm; 0: its own */
	unsigned hellos;
	/* Messages received from below. */
	unsigned directories, fulls, objects_reported;
	struct seen seen[OBJECTS_SEEN];
	size_t nseen;
	unsigned replies, parts, acks, triggers, ack_errors;
	uint32_t ack_version, ack_status; /* ack_status: of the first error */
	char ack_text[TEXT];
	struct reply *last, *part; /* owned */
	char csr[TOKEN_BYTES], thread[TOKEN_BYTES];
	uint64_t dropped, seq;
	unsigned losses, lasts; /* lasts: those of them that answer to DISARM */
	uint64_t lost;
	uint32_t trigger_tool;
	uint64_t next_id;
	nsec_t silent_at; /* when a node was last silenced */
	struct messages flows; /* of measurements and kept subscriptions */
};

/* A fake lm, and its way to the sm. */
struct leaf {
	struct fake_branch b;
	struct world *w;
	struct parent *parent; /* NULL: it dials the sm straight */
	uint32_t number;
	uint64_t epoch;
	bool says_bye;
	unsigned enrol_acks;
	unsigned procs; /* in its snapshot */
	struct messages flows; /* of measurements and kept subscriptions */
};

/* An sm below that of the site, on host b1 or b2. */
struct below {
	struct world *w;
	struct net_ctx *ctx;
	struct timebase timebase;
	struct sm *sm;
	struct identity id;
	uint64_t epoch;
	unsigned ends, lost; /* attempts that failed */
};

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct net_ctx *ctx;
	struct rng rng;
	struct timebase timebase, top_time;
	struct sm *sm;
	struct sm_conf conf;
	struct top top;
	struct leaf lm[LMS];
	struct below below[BELOWS];
	unsigned ready, ends, unreachable;
	char end_reason[ERR_TEXT_BYTES], unreachable_why[ERR_TEXT_BYTES];
	bool unreachable_was_up;
};

/* mainsm and sm, connected; linger 60 s. */
void world_open(struct world *w);
/* The same without a mainsm: for starting it later. */
void world_open_alone(struct world *w);
void world_done(struct world *w);
void world_run(struct world *w, nsec_t time);

/* The sm ends or dies, and another one is started at the same port. */
void world_stop_sm(struct world *w);
void world_start_sm(struct world *w);

void top_start(struct world *w);
void top_stop(struct world *w);
struct seen *top_find(struct world *w, const char *token); /* NULL: not there */
size_t top_count(const struct world *w);
int top_send(struct world *w, const struct msg *m);

/* Sends a request with numbers 1.. and returns its id. */
uint64_t top_send_request(struct world *w, const char *text, nsec_t deadline);

/* And waits for the answer; it belongs to the world. */
const struct reply *top_ask(struct world *w, const char *text, nsec_t deadline);
void top_arm(struct world *w, const char *csr, uint32_t version, const char *text, uint32_t prefix);

/* Entry number n of an action; fails the test when there is none. */
const struct reply_entry *entry_of(const struct reply *r, uint32_t action, size_t n);
size_t entries_of(const struct reply *r, uint32_t action);

/* lm i is node i + 1 on host h<i + 1>, with two processes p_N_00000[1..] of one thread each. */
void lm_set(struct world *w, size_t i, const char *site, const char *host, uint32_t number);
void lm_start(struct world *w, size_t i); /* dials; sends its snapshot when up */
void lm_climb(struct world *w, size_t i); /* asks mainsm, as a real one */
void lm_stop(struct world *w, size_t i); /* with BYE */
void lm_free(struct world *w, size_t i); /* and all of it */
void lm_send(struct leaf *l, const struct msg *m);
void lm_report(struct leaf *l, bool full, const struct msg_object *o, size_t n);
void lm_snapshot(struct leaf *l);
void lm_trigger(struct leaf *l, const char *csr, const char *thread);
void lm_reply(struct leaf *l, uint64_t id, uint32_t action, const char *objects);
void lms_start(struct world *w, size_t n);

/* parent: address; NULL = from mainsm. */
void below_start(struct world *w, size_t i, const char *parent);
void below_kill(struct world *w, size_t i);
struct sm_counts below_counts(const struct world *w, size_t i);

/* The cable of host i: out or in. */
void lm_cut(struct world *w, size_t i, bool cut);

struct sm_counts world_counts(const struct world *w);

#endif
