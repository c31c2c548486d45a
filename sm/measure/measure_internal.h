/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For measure.c (creation and end), measure_load.c (messages of the parent), measure_hosts.c
 * (hosts) and measure_read.c (reads).
 */
#ifndef SM_MEASURE_MEASURE_INTERNAL_H
#define SM_MEASURE_MEASURE_INTERNAL_H

#include "common/container/map.h"
#include "common/flow/batch/batch.h"
#include "common/flow/engine/flow.h"
#include "common/omis/reply/reply.h"
#include "sm/measure/measure.h"
#include "tree/flowbox.h"
#include "tree/read_clock.h"
#include "tree/stage.h"
#include "tree/standing.h"

struct site_measures {
	struct site_measures_conf conf;
	struct map by_number; /* owns struct site_measure */
	struct flow *engine; /* created with the first piece of the site */
	struct site_measure *current; /* measure being read */
	struct flow_batch_room room;
	struct loop_timer *follow; /* owned; hosts have moved: all is checked again soon */
	uint32_t version; /* of the last FLOW_LOAD that was sent */
	uint64_t graphs; /* received from the parent */
	struct site_measures_stats stats;
};

/* The piece of one host. */
struct host_piece {
	struct token token;
	uint32_t node; /* number of the node */
	uint8_t *graph; /* owned; as text */
	size_t ngraph;
	uint64_t of; /* version of the FLOW_LOAD that named it last */
	uint32_t branch; /* branch to which it was sent, STAGE_NOWHERE */
	uint64_t number; /* of the graph; each received graph has a new number */
	bool is_refused; /* not running there */
	uint64_t frames, bytes; /* received from there */
};

struct site_measure {
	struct site_measures *f;
	uint32_t id, tool;
	char *identity; /* owned */
	uint64_t version;
	bool is_stale, has_more; /* has_more: parts of the version are missing */
	struct smap parts; /* host's token -> struct host_piece, owned */
	/* owned; has a graph if the site's piece runs here */
	struct stage *stage;
	uint64_t piece_of; /* version of the FLOW_LOAD that named it last */
	enum flow_kind *kind; /* owned; of the piece's nodes */
	size_t nnode;
	struct reply *answer; /* owned; errors; NULL once FLOW_ACK was sent */
	struct standing *standing; /* owned; mark: the sum of the graphs' numbers */
	struct flowbox *box; /* owned */
	struct read_clock reads; /* active when the stage has a graph */
	int64_t last_asked; /* the highest read in FLOW_READ: no later one can arrive */
	bool is_above_sms; /* a part runs below another sm */
	struct loop_timer *timer; /* owned; passing on: ends the wait for a frame */
	int64_t open; /* for passing on: the read that is being assembled; 0 = none */
};

void site_measure_end(struct site_measure *m); /* sends FLOW_END to the hosts */

/* --- measure_hosts.c */
/*
 * Sends each host the pieces that it lacks. Decides which hosts take part and which links are
 * awaited.
 */
void site_measure_settle(struct site_measure *m);
void piece_free(struct site_measure *m, struct host_piece *s);
void site_measure_check_answer(struct site_measure *m);
/* Returns NULL without memory. */
struct standing *site_measure_standing_new(struct site_measure *m);
void site_measure_complain(struct site_measure *m, const char *object, unsigned status,
			   const char *why);

/* --- measure_read.c */
nsec_t site_measures_now(const struct site_measures *f);
void site_measures_site_token(const struct site_measures *f, struct token *out);
/* Initialises the reads and frames. -ERR_NOMEM. */
int site_measure_reads_init(struct site_measure *m);
/* Closes a read that all hosts have sent. */
void site_measure_check_read(struct site_measure *m);
void site_measures_on_batch(void *arg, const struct flow_batch *b);
void site_measures_on_result(void *arg, const struct flow_result *r);

#endif
