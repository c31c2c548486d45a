/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. nsec_t is monotonic nanoseconds unless a name says wall_. Ticks are the cheapest time
 * stamp: the invariant TSC, or CLOCK_MONOTONIC nanoseconds. A struct ticks_scale converts them to
 * monotonic time.
 */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int64_t nsec_t;

#define NSEC_PER_USEC INT64_C(1000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_SEC INT64_C(1000000000)

/* Any thread, signal-safe. */
nsec_t clock_mono(void);
nsec_t clock_wall(void); /* ns since 1970, UTC */

#define CLOCK_TEXT_BYTES 36

/*
 * Writes "2026-01-31T08:15:30.000000001Z" to out[CLOCK_TEXT_BYTES], with 0..9 digits behind the
 * point. Returns out.
 */
char *clock_format_rfc3339(char *out, nsec_t wall, int digits);

enum ticks_source { TICKS_MONOTONIC, TICKS_TSC };

/*
 * True if the kernel considers the TSC stable: it has one rate on all cores and in every power
 * state.
 */
bool tsc_is_invariant(void);

/*
 * Returns the best source of this machine. OMIG_TICKS=monotonic in the environment excludes the
 * TSC.
 */
enum ticks_source ticks_source_best(void);

/*
 * ns = base_ns + ((ticks - base_ticks) * mult >> shift), in 128 bits. Plain data, for segments and
 * messages.
 */
struct ticks_scale {
	uint64_t base_ticks;
	int64_t base_ns;
	uint64_t mult;
	uint32_t shift; /* <= 63 */
	uint32_t source; /* enum ticks_source */
};

/* Signal-safe, wait-free; no system call in either form. */
static inline uint64_t ticks_now(enum ticks_source source)
{
	struct timespec t;

#if defined(__x86_64__)
	if (__builtin_expect(source == TICKS_TSC, 1))
		/* inline, because <x86intrin.h> adds 25,000 lines to each source */
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Blocks for `spend`, at least 1 ms, if the source is the TSC. Fails with ERR_UNSUPPORTED if this
 * machine lacks the source, ERR_INTERNAL if the TSC did not advance.
 */
int ticks_calibrate(struct ticks_scale *out, enum ticks_source source, nsec_t spend);

/*
 * Computes the scale from two (ticks, ns) points, without blocking. Fails with ERR_INVALID unless
 * both differences are positive.
 */
int ticks_scale_from_points(struct ticks_scale *out, const uint64_t ticks[2], const nsec_t ns[2]);

/* Samples one (ticks, ns) point: the narrowest of a few tries. */
void ticks_sample(enum ticks_source source, uint64_t *ticks, nsec_t *ns);

/*
 * Accepts any value: saturates instead of overflowing. Only a scale that passes
 * ticks_scale_is_sane() gives useful results.
 */
nsec_t ticks_to_nsec(const struct ticks_scale *s, uint64_t ticks);

/* Converts a duration, without the base. */
nsec_t ticks_delta_to_nsec(const struct ticks_scale *s, uint64_t delta);

/* True if mult and shift mean a rate between 1 MHz and 100 GHz, and the source is known. */
bool ticks_scale_is_sane(const struct ticks_scale *s);

#endif
