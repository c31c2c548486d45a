/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"

#include "common/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

__extension__ typedef unsigned __int128 wide;

/* 40 bits of fraction: an hour of ticks is exact to a nanosecond. */
#define SCALE_SHIFT 40
#define SAMPLE_TRIES 16

#if defined(__x86_64__)
/*
 * True if the kernel has removed the TSC from this list because it is unstable. Without a list (no
 * /sys) the TSC is accepted.
 */
static bool kernel_distrusts_tsc(void)
{
	char list[256];
	int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
		      O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, list, sizeof(list) - 1);
	close(fd);
	if (n <= 0)
		return false;
	list[n] = '\0';
	return !strstr(list, "tsc");
}

bool tsc_is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) && !kernel_distrusts_tsc();
}
#else
bool tsc_is_invariant(void)
{
	return false;
}
#endif

enum ticks_source ticks_source_best(void)
{
	const char *text = getenv("OMIG_TICKS");

	if (text && strcmp(text, "monotonic") == 0)
		return TICKS_MONOTONIC;
	return tsc_is_invariant() ? TICKS_TSC : TICKS_MONOTONIC;
}

void ticks_sample(enum ticks_source source, uint64_t *ticks, nsec_t *ns)
{
	uint64_t least = UINT64_MAX;

	if (source == TICKS_MONOTONIC) {
		*ns = clock_mono();
		*ticks = (uint64_t)*ns;
		return;
	}
	for (int i = 0; i < SAMPLE_TRIES; i++) {
		uint64_t before = ticks_now(source);
		nsec_t now = clock_mono();
		uint64_t after = ticks_now(source);

		if (after - before < least) {
			least = after - before;
			*ticks = before + least / 2;
			*ns = now;
		}
	}
}

int ticks_scale_from_points(struct ticks_scale *out, const uint64_t ticks[2], const nsec_t ns[2])
{
	wide mult;

	if (ticks[1] <= ticks[0] || ns[1] <= ns[0])
		return -ERR_INVALID;
	mult = ((wide)(uint64_t)(ns[1] - ns[0]) << SCALE_SHIFT) / (ticks[1] - ticks[0]);
	if (mult > UINT64_MAX)
		return -ERR_INVALID;
	*out = (struct ticks_scale){
		.base_ticks = ticks[1],
		.base_ns = ns[1],
		.mult = (uint64_t)mult,
		.shift = SCALE_SHIFT,
		.source = TICKS_TSC,
	};
	return ticks_scale_is_sane(out) ? 0 : -ERR_INVALID;
}

int ticks_calibrate(struct ticks_scale *out, enum ticks_source source, nsec_t spend)
{
	struct timespec pause = { .tv_sec = spend / NSEC_PER_SEC, .tv_nsec = spend % NSEC_PER_SEC };
	uint64_t ticks[2];
	nsec_t ns[2];

	if (source == TICKS_MONOTONIC) {
		*out = (struct ticks_scale){ .mult = 1, .source = TICKS_MONOTONIC };
		return 0;
	}
	if (!tsc_is_invariant())
		return -ERR_UNSUPPORTED;
	ticks_sample(source, &ticks[0], &ns[0]);
	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
	ticks_sample(source, &ticks[1], &ns[1]);
	return ticks_scale_from_points(out, ticks, ns) ? -ERR_INTERNAL : 0;
}

nsec_t ticks_delta_to_nsec(const struct ticks_scale *s, uint64_t delta)
{
	wide ns = (wide)delta * s->mult >> (s->shift & 63);

	return ns > INT64_MAX ? INT64_MAX : (nsec_t)ns;
}

/* Times before the base are rounded towards the past, too. */
static nsec_t delta_up(const struct ticks_scale *s, uint64_t delta)
{
	unsigned shift = s->shift & 63;
	wide product = (wide)delta * s->mult, ns = product >> shift;

	ns += (ns << shift) != product;
	return ns > INT64_MAX ? INT64_MAX : (nsec_t)ns;
}

nsec_t ticks_to_nsec(const struct ticks_scale *s, uint64_t ticks)
{
	nsec_t ns;

	if (ticks >= s->base_ticks) {
		if (__builtin_add_overflow(s->base_ns,
					   ticks_delta_to_nsec(s, ticks - s->base_ticks), &ns))
			return INT64_MAX;
	} else if (__builtin_sub_overflow(s->base_ns, delta_up(s, s->base_ticks - ticks), &ns)) {
		return INT64_MIN;
	}
	return ns;
}

bool ticks_scale_is_sane(const struct ticks_scale *s)
{
	wide one;

	if (s->shift > 63 || s->source > TICKS_TSC)
		return false;
	one = (wide)1 << s->shift;
	return (wide)s->mult * 100 >= one && s->mult <= one * 1000;
}
