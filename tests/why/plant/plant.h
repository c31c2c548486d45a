/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plant: an MPI program that loses a stated share of its time for a stated reason. It measures
 * what it has lost, and tests of the search for bottlenecks compare findings with that.
 *
 * Functions end the program with MPI_Abort when they fail. All times are seconds of
 * CLOCK_MONOTONIC: the ranks are on one machine, which may be several virtual hosts.
 */
#ifndef PLANT_H
#define PLANT_H
#include <stddef.h>
#include <stdint.h>

enum { RANKS_MAX = 256, NAME_MAX_BYTES = 256 };

/* How a rank spends the time of its work: it sleeps, which needs no processor, so many ranks share
 * few processors without disturbance; it spins for so much processor time, which takes longer when
 * another process has the processor; or it makes so many iterations of a loop, which also takes
 * longer on a slow processor. */
enum work_by { WORK_SLEEP, WORK_SPIN, WORK_COUNT };

/* A call, by the rule that divides its time into waiting and the rest. A post is the begin of an
 * eager send: the sender does not wait. */
enum op_kind {
	OP_BARRIER,
	OP_NXN,
	OP_FROM_ROOT,
	OP_TO_ROOT,
	OP_RECEIVE,
	OP_SEND,
	OP_SMALL,
	OP_FILE,
	OP_POST,
	OP_KINDS
};

struct op {
	double enter, exit;
	int32_t kind; /* enum op_kind */
	int32_t peer, peer2; /* partners, or root; -1: none */
};

/* Time outside of MPI. */
struct useful {
	double wall;
	double processor; /* of it */
	double delay; /* of it: ready to run, without a processor */
};

struct plant;
struct kernel {
	const char *name;
	void (*step)(struct plant *p);
	const char *receive_is; /* hypothesis of waits in receives */
};

struct planted {
	const char *name, *kernel, *hypothesis;
	/* Returns the extra work of a late rank in a step that costs the share `size` of all time.
	 * Kernels with a plant of their own use another number. */
	double (*extra)(const struct plant *p, double size);
	int where; /* the late rank; -1: the last one */
};

struct plant {
	const struct kernel *kernel;
	const struct planted *planted; /* NULL: none */
	int rank, ranks;
	double size; /* planted share of all rank-seconds */
	int late[RANKS_MAX], nlate; /* ranks which the plant delays */
	double from, until, seconds; /* of the loop */
	double work, jitter; /* seconds of a step; share by which it varies at random */
	double extra; /* of `planted` */
	enum work_by by, extra_by;
	int bytes; /* of a message */
	const char *truth, *pids, *enough; /* files; NULL: none */
	unsigned seed;
	/* state */
	double begin, wall_begin; /* of the loop; since 1970 */
	int step;
	long per_second; /* iterations of WORK_COUNT, in thousands */
	struct op *op;
	size_t nop, op_cap;
	struct useful useful;
	int *in, *out; /* messages */
};

/* options.c */
void options_parse(struct plant *p, int argc, char **argv);

/* planted.c. NULL: there is none of that name. */
const struct planted *planted_find(const char *name);
void planted_print(void);
/* Sets the extra work. */
void planted_prepare(struct plant *p);
/* Returns the extra seconds of work of this rank now, which may be negative. */
double planted_extra(const struct plant *p);
/* Returns the number of a kernel with a plant of its own, which is `healthy` without the plant. */
double planted_own(const struct plant *p, double healthy);
/* Returns whether the plant is active now. */
int planted_is_active(const struct plant *p);

/* kernels.c: those with collectives */
const struct kernel *kernel_find(const char *name);
void kernel_print(void);
/* Returns whether the run ends; all ranks get the same answer. Collective. */
int kernel_is_over(struct plant *p);
/* kernels_messages.c, kernels_own.c, kernel_fortran.f90 */
void kernel_stencil(struct plant *p);
void kernel_ring(struct plant *p);
void kernel_chain(struct plant *p);
void kernel_wavefront(struct plant *p);
void kernel_server(struct plant *p);
void kernel_small(struct plant *p);
void kernel_file(struct plant *p);
/* Closes and removes what kernel_file() wrote. */
void kernel_done(void);
void plant_fortran_allreduce(double *value);

/* work.c */
double now(void);
/* Measures how fast the loop of WORK_COUNT is; collective. */
void work_calibrate(struct plant *p);
/* The work of a step, with the extra work of a late rank. */
void work_step(struct plant *p);
void work_for(struct plant *p, double seconds, enum work_by by);

/* record.c. op_begin() and op_end() enclose a call. */
struct op *op_begin(struct plant *p, enum op_kind kind, int peer);
void op_end(struct op *op);
/* Ends the program with a message. */
void fail(const char *what, const char *of);

/* truth.c. Collects the calls of all ranks at rank 0 and computes what was lost. Rank 0 writes it
 * to the file p->truth, as one JSON object. Collective. */
void truth_write(struct plant *p);
#endif
