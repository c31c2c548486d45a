/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/clock.h"

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/base/rng.h"
#include "common/loop/loop.h"

static const struct loop *now_of;
static struct rng keys;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __real_rng_fill_random(void *p, size_t n, struct err *e);
int __wrap_rng_fill_random(void *p, size_t n, struct err *e);
void __real_rng_draw_key(struct hash_key *key);
void __wrap_rng_draw_key(struct hash_key *key);
int __real_ticks_calibrate(struct ticks_scale *out, enum ticks_source source, nsec_t spend);
int __wrap_ticks_calibrate(struct ticks_scale *out, enum ticks_source source, nsec_t spend);

void simclock_enter(const struct loop *l, uint64_t seed)
{
	now_of = l;
	rng_init(&keys, hash_mix64(seed));
}

const struct loop *simclock_loop(void)
{
	return now_of;
}

nsec_t simclock_real(void)
{
	struct timespec t;

	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	return (nsec_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	nsec_t now;

	if (!now_of)
		return __real_clock_gettime(id, t);
	now = loop_now(loop_running(now_of)) + (id == CLOCK_REALTIME ? SIM_WALL_START_NS : 0);
	*t = (struct timespec){ .tv_sec = now / NSEC_PER_SEC, .tv_nsec = now % NSEC_PER_SEC };
	return 0;
}

int __wrap_rng_fill_random(void *p, size_t n, struct err *e)
{
	uint8_t *at = p;

	if (!now_of)
		return __real_rng_fill_random(p, n, e);
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)rng_next(&keys);
	return 0;
}

/* Draws the same keys in each run, because the order of a table's entries depends on them. */
void __wrap_rng_draw_key(struct hash_key *key)
{
	if (!now_of)
		__real_rng_draw_key(key);
	else
		*key = (struct hash_key){ rng_next(&keys), rng_next(&keys) };
}

/* Fails: the processor's counter has no virtual time, and its calibration takes real time. */
int __wrap_ticks_calibrate(struct ticks_scale *out, enum ticks_source source, nsec_t spend)
{
	return now_of && source != TICKS_MONOTONIC ? -ERR_UNSUPPORTED
						   : __real_ticks_calibrate(out, source, spend);
}
