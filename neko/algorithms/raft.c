/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/algorithms/raft.h"

#include "common/cli/opt.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC)
#define CONTENT_BYTES 9

enum kind { ASKS_VOTE, VOTES, BEATS, KINDS };
enum role { FOLLOWER, CANDIDATE, LEADER };

struct raft {
	nsec_t least, most, heartbeat;
	uint64_t quorum;
	uint8_t net;
	enum role role;
	/* followed: the last term in which a message of the leader arrived */
	uint64_t term, followed;
	uint32_t voted_for; /* vote in this term; 0: none */
	uint32_t votes;
	/* owned: a bit for each process that has voted, as a network may duplicate a vote */
	uint8_t *voter;
	size_t voter_bytes;
	nsec_t deadline;
};

static const struct neko_type types[] = { { RAFT_TYPE, "raft" }, { 0, NULL } };

static void say(struct neko_layer *l, uint32_t to, enum kind kind)
{
	const struct raft *r = neko_state(l);
	uint8_t content[CONTENT_BYTES] = { kind };

	for (unsigned i = 0; i < 8; i++)
		content[1 + i] = (uint8_t)(r->term >> 8 * i);
	neko_send_to(l, to, r->net, RAFT_TYPE, content, sizeof(content));
}

static void restart_wait(struct neko_layer *l, struct raft *r)
{
	nsec_t span = (nsec_t)(neko_random(l) * (double)(r->most - r->least));

	r->deadline = neko_now(l) + r->least + span;
}

static void lead(struct neko_layer *l, struct raft *r)
{
	r->role = LEADER;
	neko_log(l, RAFT_LEADER, (double)r->term);
	r->deadline = neko_now(l);
}

static void count_vote(struct neko_layer *l, struct raft *r, uint32_t from)
{
	uint8_t *bits = &r->voter[(from - 1) / 8], bit = (uint8_t)(1u << (from - 1) % 8);

	if (r->role != CANDIDATE || *bits & bit)
		return;
	*bits |= bit;
	if (++r->votes >= r->quorum)
		lead(l, r);
}

static void stand(struct neko_layer *l, struct raft *r)
{
	uint32_t self = neko_id(neko_process(l));

	r->term++;
	r->role = CANDIDATE;
	r->voted_for = self;
	r->votes = 0;
	memset(r->voter, 0, r->voter_bytes);
	restart_wait(l, r);
	neko_log(l, RAFT_CANDIDATE, (double)r->term);
	say(l, NEKO_OTHERS, ASKS_VOTE);
	count_vote(l, r, self);
}

static void on_time(struct neko_layer *l, struct raft *r)
{
	if (r->role != LEADER) {
		stand(l, r);
		return;
	}
	say(l, NEKO_OTHERS, BEATS);
	r->deadline = neko_now(l) + r->heartbeat;
}

static void enter_term(struct neko_layer *l, struct raft *r, uint64_t term)
{
	if (r->role == LEADER) {
		neko_log(l, RAFT_RESIGN, (double)r->term);
		restart_wait(l, r);
	}
	r->term = term;
	r->role = FOLLOWER;
	r->voted_for = 0;
}

static void vote(struct neko_layer *l, struct raft *r, uint32_t candidate)
{
	if (r->voted_for && r->voted_for != candidate)
		return;
	r->voted_for = candidate;
	restart_wait(l, r);
	say(l, candidate, VOTES);
}

static void follow(struct neko_layer *l, struct raft *r)
{
	r->role = FOLLOWER;
	restart_wait(l, r);
	if (r->followed == r->term)
		return;
	r->followed = r->term;
	neko_log(l, RAFT_FOLLOW, (double)r->term);
}

static void hear(struct neko_layer *l, struct raft *r, const struct neko_msg *m)
{
	uint64_t term = 0;

	if (m->n != CONTENT_BYTES || m->from == neko_id(neko_process(l)))
		return;
	for (unsigned i = 8; i-- > 0;)
		term = term << 8 | m->content[1 + i];
	if (term > r->term)
		enter_term(l, r, term);
	if (term < r->term)
		return;
	if (m->content[0] == ASKS_VOTE)
		vote(l, r, m->from);
	else if (m->content[0] == VOTES)
		count_vote(l, r, m->from);
	else if (m->content[0] == BEATS && r->role != LEADER)
		follow(l, r);
}

static void raft_run(struct neko_layer *l)
{
	struct raft *r = neko_state(l);
	struct neko_msg *m;
	int rc;

	restart_wait(l, r);
	for (;;) {
		nsec_t left = r->deadline - neko_now(l);

		rc = left > 0 ? neko_receive(l, left, &m) : NEKO_TIMEOUT;
		if (rc == NEKO_TIMEOUT)
			on_time(l, r);
		else if (rc)
			return;
		else
			hear(l, r, m);
	}
}

static void raft_done(struct neko_layer *l)
{
	free(((struct raft *)neko_state(l))->voter);
}

static const struct neko_layer_ops raft_ops = {
	.name = "raft",
	.bytes = sizeof(struct raft),
	.types = types,
	.run = raft_run,
	.done = raft_done,
};

/* Reads "150ms..300ms". */
static int read_timeout(struct raft *r, struct setup *s, struct err *e)
{
	const char *text = setup_get(s, "raft.timeout"), *dots = text ? strstr(text, "..") : NULL;
	char least[32] = "";

	r->least = 150 * NSEC_PER_MSEC;
	r->most = 300 * NSEC_PER_MSEC;
	if (!text)
		return 0;
	if (dots && (size_t)(dots - text) < sizeof(least))
		memcpy(least, text, (size_t)(dots - text));
	if (dots && !opt_to_nsec_unit(least, NSEC_PER_USEC, TIME_MAX, &r->least) &&
	    !opt_to_nsec_unit(dots + 2, r->least, TIME_MAX, &r->most))
		return 0;
	err_set(e, ERR_INVALID, "'%s' is not a time span; write 150ms..300ms", text);
	return setup_blame(s, "raft.timeout", e);
}

int raft_init(struct neko_process *p, struct setup *s, struct err *e)
{
	uint64_t net = 1;
	struct raft *r;
	int rc = neko_push(p, &raft_ops, &r, e);

	if (rc)
		return rc;
	r->voter_bytes = (neko_count(p) + 7) / 8;
	r->voter = calloc(1, r->voter_bytes);
	if (!r->voter)
		return err_nomem(e);
	r->heartbeat = 50 * NSEC_PER_MSEC;
	r->quorum = neko_count(p) / 2 + 1;
	rc = read_timeout(r, s, e);
	if (!rc)
		rc = setup_nsec(s, "raft.heartbeat", NSEC_PER_USEC, TIME_MAX, &r->heartbeat, e);
	if (!rc)
		rc = setup_u64(s, "raft.quorum", 1, neko_count(p), &r->quorum, e);
	if (!rc)
		rc = setup_u64(s, "raft.network", 1, neko_nets(p), &net, e);
	r->net = (uint8_t)(net - 1);
	return rc;
}
