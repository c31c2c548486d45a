/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant: what was lost, by the times at which all ranks began and ended each call.
 *
 * A rank waits in a call until another rank has begun its part, and that rank is blamed. It is the
 * last rank at a barrier, the root of a broadcast, or the sender of a message. A large message also
 * waits for its receiver. A wait ends with the call at the latest.
 */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_MAX = 2400, TAG_OPS = 9, HYPOTHESES = 12 };

static const double BIN = 0.5; /* seconds */

static const char *const hypotheses[HYPOTHESES] = { "W",  "W1", "W2", "W3",  "W4",  "W5",
						    "W6", "W7", "W8", "W11", "W13", "W15" };

struct loss {
	double bins[BINS_MAX], blame[RANKS_MAX]; /* seconds */
	double seconds;
};

struct truth {
	struct plant *p;
	struct op *op[RANKS_MAX];
	size_t nop[RANKS_MAX];
	struct useful useful[RANKS_MAX];
	double begin, end;
	struct loss loss[HYPOTHESES];
};

static size_t hypothesis(const char *name)
{
	for (size_t i = 0; i < HYPOTHESES; i++)
		if (!strcmp(hypotheses[i], name))
			return i;
	return 0;
}

/* Adds a wait that ended at `at`; blamed: -1: on no rank. */
static void lose(struct truth *t, const char *name, double at, double seconds, int blamed)
{
	struct loss *l = &t->loss[hypothesis(name)];
	int bin = (int)((at - t->begin) / BIN);

	if (seconds <= 0)
		return;
	l->seconds += seconds;
	if (bin >= 0 && bin < BINS_MAX)
		l->bins[bin] += seconds;
	if (blamed >= 0)
		l->blame[blamed] += seconds;
}

/* The wait in `op` until `other`, the time at which `blamed` began its part. */
static void wait_until(struct truth *t, const char *name, const struct op *op, double other,
		       int blamed)
{
	double end = other < op->exit ? other : op->exit;

	lose(t, name, op->exit, end - op->enter, blamed);
	/* A sweep loses at its begin in receives, and at its end in the collective. */
	if (!strcmp(t->p->kernel->receive_is, "W8") && !strcmp(name, "W2"))
		lose(t, "W8", op->exit, end - op->enter, -1);
}

/* The next call of that kind of the rank, from *at on; NULL: none. */
static const struct op *next_of(const struct truth *t, int rank, int kind, size_t *at)
{
	while (*at < t->nop[rank]) {
		const struct op *op = &t->op[rank][(*at)++];

		if (op->kind == kind)
			return op;
	}
	return NULL;
}

/* Waits of an instance of a collective. */
static void instance(struct truth *t, const char *name, const struct op *const *op)
{
	int last = 0, kind = op[0]->kind;

	for (int r = 1; r < t->p->ranks; r++)
		if (op[r]->enter > op[last]->enter)
			last = r;
	for (int r = 0; r < t->p->ranks; r++) {
		if (kind == OP_FROM_ROOT)
			wait_until(t, name, op[r], op[0]->enter, 0);
		else if (kind != OP_TO_ROOT || !r)
			wait_until(t, name, op[r], op[last]->enter, last);
	}
}

/* The k-th collective of a kind is the same one at all ranks. */
static void collectives(struct truth *t, int kind, const char *name)
{
	const struct op *op[RANKS_MAX];
	size_t at[RANKS_MAX] = { 0 };

	for (;;) {
		for (int r = 0; r < t->p->ranks; r++) {
			op[r] = next_of(t, r, kind, &at[r]);
			if (!op[r])
				return;
		}
		instance(t, name, op);
	}
}

static int is_send_to(const struct op *op, int to)
{
	return (op->kind == OP_POST || op->kind == OP_SEND) && op->peer == to;
}

static int is_receive_of(const struct op *op, int from)
{
	return op->kind == OP_RECEIVE && (op->peer == from || op->peer2 == from);
}

/* The k-th message that is sent to a rank is the k-th one that it receives: the time at which the
 * partner of the k-th call begins its part. `at` is the partner's next call. */
static double partner_enter(const struct truth *t, int rank, int partner, size_t *at,
			    int (*is_part)(const struct op *op, int of))
{
	while (*at < t->nop[partner]) {
		const struct op *op = &t->op[partner][(*at)++];

		if (is_part(op, rank))
			return op->enter;
	}
	return -1;
}

/* A receive of two messages waits for the later one. */
static void receives(struct truth *t, int rank)
{
	size_t at[RANKS_MAX] = { 0 };

	for (size_t i = 0; i < t->nop[rank]; i++) {
		const struct op *op = &t->op[rank][i];
		int peer[2] = { op->peer, op->peer2 }, last = -1;
		double until = -1;

		for (int k = 0; k < 2 && op->kind == OP_RECEIVE; k++) {
			double enter = peer[k] < 0 ? -1
						   : partner_enter(t, rank, peer[k], &at[peer[k]],
								   is_send_to);

			if (enter > until) {
				until = enter;
				last = peer[k];
			}
		}
		if (last >= 0)
			wait_until(t, t->p->kernel->receive_is, op, until, last);
	}
}

static void sends(struct truth *t, int rank)
{
	size_t at[RANKS_MAX] = { 0 };

	for (size_t i = 0; i < t->nop[rank]; i++) {
		const struct op *op = &t->op[rank][i];

		if (op->kind == OP_SEND)
			wait_until(t, "W6", op,
				   partner_enter(t, rank, op->peer, &at[op->peer], is_receive_of),
				   op->peer);
	}
}

/* All time in calls, and calls whose whole time is lost. */
static void durations(struct truth *t, int rank)
{
	for (size_t i = 0; i < t->nop[rank]; i++) {
		const struct op *op = &t->op[rank][i];
		double d = op->exit - op->enter;

		lose(t, "W", op->exit, d, -1);
		if (op->kind == OP_SMALL)
			lose(t, "W13", op->exit, d, rank);
		if (op->kind == OP_FILE)
			lose(t, "W15", op->exit, d, rank);
	}
}

static void compute(struct truth *t)
{
	collectives(t, OP_BARRIER, "W1");
	collectives(t, OP_NXN, "W2");
	collectives(t, OP_FROM_ROOT, "W3");
	collectives(t, OP_TO_ROOT, "W4");
	for (int r = 0; r < t->p->ranks; r++) {
		receives(t, r);
		sends(t, r);
		durations(t, r);
	}
}

static void write_numbers(FILE *f, const char *name, const double *x, int n)
{
	fprintf(f, ",\"%s\":[", name);
	for (int i = 0; i < n; i++)
		fprintf(f, i ? ",%.4f" : "%.4f", x[i]);
	fprintf(f, "]");
}

static void write_losses(const struct truth *t, FILE *f)
{
	double seconds = t->end - t->begin;
	int nbins = (int)(seconds / BIN);
	const char *between = "";

	if (nbins > BINS_MAX)
		nbins = BINS_MAX;
	fprintf(f, ",\"lost\":{");
	for (size_t i = 0; i < HYPOTHESES; i++) {
		const struct loss *l = &t->loss[i];

		if (l->seconds <= 0)
			continue;
		fprintf(f, "%s\"%s\":{\"share\":%.6f", between, hypotheses[i],
			l->seconds / (seconds * t->p->ranks));
		write_numbers(f, "bins", l->bins, nbins);
		write_numbers(f, "blame", l->blame, t->p->ranks);
		fprintf(f, "}");
		between = ",";
	}
	fprintf(f, "}");
}

static void write_plant(const struct plant *p, FILE *f)
{
	const char *between = "";

	if (!p->planted) {
		fprintf(f, ",\"plant\":null,\"hypothesis\":null,\"size\":0,\"late\":[]");
		return;
	}
	fprintf(f, ",\"plant\":\"%s\",\"hypothesis\":\"%s\",\"size\":%g,\"extra\":%g,\"late\":[",
		p->planted->name, p->planted->hypothesis, p->size, p->extra);
	for (int i = 0; i < p->nlate; i++) {
		fprintf(f, "%s%d", between, p->late[i]);
		between = ",";
	}
	fprintf(f, "],\"from\":%g", p->from);
	if (p->until < 1e9)
		fprintf(f, ",\"until\":%g", p->until);
}

static void write_file(const struct truth *t)
{
	const struct plant *p = t->p;
	FILE *f = fopen(p->truth, "w");

	if (!f)
		fail("cannot be written", p->truth);
	fprintf(f, "{\"v\":1,\"kernel\":\"%s\",\"ranks\":%d,\"begin\":%.6f,\"seconds\":%.6f",
		p->kernel->name, p->ranks, p->wall_begin, t->end - t->begin);
	fprintf(f, ",\"bin\":%g,\"steps\":%d", BIN, p->step);
	write_plant(p, f);
	write_losses(t, f);
	fprintf(f, ",\"useful\":[");
	for (int r = 0; r < p->ranks; r++)
		fprintf(f, "%s{\"wall\":%.6f,\"processor\":%.6f,\"delay\":%.6f}", r ? "," : "",
			t->useful[r].wall, t->useful[r].processor, t->useful[r].delay);
	fprintf(f, "]}\n");
	if (fclose(f))
		fail("cannot be written", p->truth);
}

static void collect(struct truth *t)
{
	struct plant *p = t->p;

	t->op[0] = p->op;
	t->nop[0] = p->nop;
	t->useful[0] = p->useful;
	for (int r = 1; r < p->ranks; r++) {
		MPI_Status *none = MPI_STATUS_IGNORE;

		MPI_Recv(&t->nop[r], sizeof(t->nop[r]), MPI_BYTE, r, TAG_OPS, MPI_COMM_WORLD, none);
		t->op[r] = malloc((t->nop[r] + 1) * sizeof(struct op));
		if (!t->op[r])
			fail("no memory", "truth");
		MPI_Recv(t->op[r], (int)(t->nop[r] * sizeof(struct op)), MPI_BYTE, r, TAG_OPS,
			 MPI_COMM_WORLD, none);
		MPI_Recv(&t->useful[r], sizeof(t->useful[r]), MPI_BYTE, r, TAG_OPS, MPI_COMM_WORLD,
			 none);
	}
}

void truth_write(struct plant *p)
{
	double end = now();
	struct truth *t;

	if (p->rank) {
		MPI_Send(&p->nop, sizeof(p->nop), MPI_BYTE, 0, TAG_OPS, MPI_COMM_WORLD);
		MPI_Send(p->op, (int)(p->nop * sizeof(*p->op)), MPI_BYTE, 0, TAG_OPS,
			 MPI_COMM_WORLD);
		MPI_Send(&p->useful, sizeof(p->useful), MPI_BYTE, 0, TAG_OPS, MPI_COMM_WORLD);
		return;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		fail("no memory", "truth");
	t->p = p;
	t->begin = p->begin;
	t->end = end;
	collect(t);
	compute(t);
	if (p->truth)
		write_file(t);
	for (int r = 1; r < p->ranks; r++)
		free(t->op[r]);
	free(t);
}
