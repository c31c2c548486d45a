/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the segment (seg.h): calls by the class of their size, extents of calls, counters that
 * are read, functions.
 */
#ifndef COMMON_RING_SEGSIZE_H
#define COMMON_RING_SEGSIZE_H

#include <assert.h>
#include <stdint.h>

/*
 * (function, class of size) pairs of a thread, a power of two: twelve functions that move bytes,
 * each in ten classes, with room for short searches
 */
#define SEG_SIZES 256
/* classes of sizes: 0 bytes; 1; 2 and 3; 4 to 7; ...; 2^30 and more */
#define SEG_SIZE_CLASSES 32

/* Counters that a rank can read at a probe, summed over all its threads. */
enum seg_read_kind {
	SEG_READ_NONE,
	SEG_READ_COUNTER, /* a cell, as `i` */
	SEG_READ_INTEGRATOR, /* a cell, as `f`: v * ticks */
	SEG_READ_CALLS, /* sums over functions, as `u` */
	SEG_READ_DELAY, /* ticks */
	SEG_READ_OUT, /* bytes */
	SEG_READ_IN,
	/* PARTNER_X: the same of calls with some partners; delays of ended calls */
	SEG_READ_PARTNER_CALLS,
	SEG_READ_PARTNER_DELAY,
	SEG_READ_PARTNER_OUT,
	SEG_READ_PARTNER_IN,
	/* of the region itself, only for meters, without functions */
	SEG_READ_PASSES, /* how often the thread has entered it */
	SEG_READ_TICKS, /* how long the thread was inside */
	SEG_READ_KINDS
};
#define SEG_IS_OF_PARTNERS(kind) ((kind) >= SEG_READ_PARTNER_CALLS && (kind) <= SEG_READ_PARTNER_IN)
#define SEG_IS_OF_REGION(kind) ((kind) >= SEG_READ_PASSES)

/* functions that tools have chosen; each has two probes, behind the probes of modules */
#define SEG_FUNCTIONS 32
/* code for entries and exits: a function takes about 200 bytes */
#define SEG_FUNCTION_AREA_BYTES 65536
#define SEG_FUNCTION_AREAS 2 /* one near the program, and one near the libraries */
/*
 * The number of a patched function: its slot, and the place of its code in the area. No place is
 * used twice, so that two patches never have the same number.
 */
#define SEG_FUNCTION_SLOT_BITS 5
#define SEG_FUNCTION_SLOT(id) ((id) & (SEG_FUNCTIONS - 1))
#define SEG_FUNCTION_ID(slot, place) \
	((uint32_t)(slot) | (uint32_t)(place) << SEG_FUNCTION_SLOT_BITS)
static_assert(SEG_FUNCTIONS == 1 << SEG_FUNCTION_SLOT_BITS, "slots fit");

/*
 * Calls of one function whose bytes are in one class, by the larger of bytes sent and received. A
 * posted receive counts when its bytes have arrived, a persistent request at each start. key is
 * written once; the sums only grow. Each sum is consistent by itself.
 */
struct seg_size {
	uint64_t key; /* (function + 1) << 32 | class; 0 = free */
	uint64_t count, bytes;
	uint64_t delay; /* ticks of calls that have ended, multiplied by 2^k when sampled */
};

/*
 * Shortest and longest measured call of one function in one thread. Each member is consistent by
 * itself.
 */
struct seg_extent {
	uint64_t longest; /* ticks; 0: none */
	uint64_t shortest_inverted; /* ~ticks; 0: none */
};

static_assert(sizeof(struct seg_size) == 32, "layout");
static_assert(sizeof(struct seg_extent) == 16, "layout");

/* Returns the class of a number of bytes, below SEG_SIZE_CLASSES. Signal-safe. */
static inline unsigned seg_size_class(uint64_t bytes)
{
	unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;

	return bits < SEG_SIZE_CLASSES ? bits : SEG_SIZE_CLASSES - 1;
}

/* Returns the smallest number of bytes of a class. The next class begins behind this one. */
static inline uint64_t seg_size_from(unsigned class)
{
	return class ? UINT64_C(1) << (class - 1) : 0;
}

/*
 * Collective calls that libomig numbers: blocking ones, in which each rank of a communicator waits
 * for others or may do so. Each has a probe of its name, MPI_X. Its virtual time is the number of
 * the call among those of that function on MPI_COMM_WORLD, from 1. MPI demands the same order of
 * collective calls in all ranks, so the ranks agree on the number without messages.
 */
/* Append only: the place is part of the segment's layout. libapp/wrap.awk has the same list. */
#define COLLECTIVES_EACH(X)     \
	X(Barrier)              \
	X(Bcast)                \
	X(Gather)               \
	X(Gatherv)              \
	X(Scatter)              \
	X(Scatterv)             \
	X(Allgather)            \
	X(Allgatherv)           \
	X(Alltoall)             \
	X(Alltoallv)            \
	X(Alltoallw)            \
	X(Reduce)               \
	X(Allreduce)            \
	X(Reduce_scatter)       \
	X(Reduce_scatter_block) \
	X(Scan)                 \
	X(Exscan)

#define COLLECTIVE_ENUM(name) COLLECTIVE_##name,
enum collective { COLLECTIVES_EACH(COLLECTIVE_ENUM) COLLECTIVES };

/* Returns "MPI_Barrier" and so on; NULL out of range. */
const char *seg_collective_name(unsigned k);

#endif
