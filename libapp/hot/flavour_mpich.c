/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPICH and libraries with the same binary interface (libmpich.so.12, libmpi.so.12): handles are
 * 32-bit numbers, the same in C and Fortran; a status is {count low, count high and cancelled,
 * source, tag, error}.
 */
#include "common/ring/calls.h"
#include "libapp/hot/args.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/real.h"

#include <string.h>

struct mpich_status {
	int32_t count_low, count_high_cancelled, source, tag, error;
};

enum {
	MPICH_COMM_WORLD = 0x44000000,
	MPICH_COMM_NULL = 0x04000000,
	MPICH_TYPE_NULL = 0x0c000000,
	MPICH_WIN_NULL = 0x20000000,
	MPICH_REQUEST_NULL = 0x2c000000,
	MPICH_REQUEST_BUILTIN = 0x6c, /* upper byte of requests that are complete from the start */
};

static const char *const sonames[] = { "libmpich.so.12", "libmpichfort.so.12", "libmpi.so.12",
				       "libmpifort.so.12", NULL };

/* Addresses of the variables that point to Fortran's constants. */
static struct {
	const void *const *status_ignore, *const *statuses_ignore;
	const void *const *f08_status_ignore, *const *f08_statuses_ignore;
	const void *const *in_place;
	const void *f08_in_place;
} mpich;

static void status_read(const void *status, struct status_view *out)
{
	struct mpich_status s;

	memcpy(&s, status, sizeof(s));
	out->source = s.source;
	out->tag = s.tag;
	out->cancelled = s.count_high_cancelled & 1;
	out->bytes = (int64_t)((uint64_t)(uint32_t)s.count_low |
			       (uint64_t)((uint32_t)s.count_high_cancelled >> 1) << 32);
}

static uintptr_t comm_world(void)
{
	return MPICH_COMM_WORLD;
}

static uintptr_t null_of(unsigned kind)
{
	switch (kind) {
	case CALL_P_COMM:
		return MPICH_COMM_NULL;
	case CALL_P_TYPE:
		return MPICH_TYPE_NULL;
	case CALL_P_WIN:
		return MPICH_WIN_NULL;
	default:
		return MPICH_REQUEST_NULL;
	}
}

static uintptr_t from_fortran(unsigned kind, int32_t f)
{
	return (uint32_t)f;
}

static bool points_to(const void *const *variable, const void *p)
{
	return variable && *variable == p;
}

static bool is_done(uintptr_t request)
{
	return (uint32_t)request >> 24 == MPICH_REQUEST_BUILTIN;
}

static bool f_status_is_ignored(const void *status, int lang)
{
	return !status || points_to(mpich.status_ignore, status) ||
	       points_to(mpich.statuses_ignore, status) ||
	       points_to(mpich.f08_status_ignore, status) ||
	       points_to(mpich.f08_statuses_ignore, status);
}

static bool f_is_in_place(const void *buffer, int lang)
{
	/* An array descriptor begins with the address of the data. */
	if (lang == LANG_TS)
		buffer = buffer ? *(const void *const *)buffer : NULL;
	return buffer && (points_to(mpich.in_place, buffer) || buffer == mpich.f08_in_place);
}

static void open_mpich(void)
{
	mpich.status_ignore = real_data("MPI_F_STATUS_IGNORE");
	mpich.statuses_ignore = real_data("MPI_F_STATUSES_IGNORE");
	mpich.f08_status_ignore = real_data("MPI_F08_STATUS_IGNORE");
	mpich.f08_statuses_ignore = real_data("MPI_F08_STATUSES_IGNORE");
	mpich.in_place = real_data("MPIR_F_MPI_IN_PLACE");
	mpich.f08_in_place = real_data("MPIR_F08_MPI_IN_PLACE");
}

const struct flavour flavour_mpich = {
	.id = SEG_FLAVOUR_MPICH,
	.sonames = sonames,
	.handle_bytes = 4,
	.status_bytes = sizeof(struct mpich_status),
	.any_source = -2,
	.proc_null = -1,
	.root = -3,
	.undefined = -32766,
	.graph = 1,
	.cart = 2,
	.dist_graph = 3,
	.in_place = (uintptr_t)-1,
	.status_ignore = 1,
	.statuses_ignore = 1,
	.status_read = status_read,
	.comm_world = comm_world,
	.null_of = null_of,
	.from_fortran = from_fortran,
	.is_done = is_done,
	.f_status_is_ignored = f_status_is_ignored,
	.f_is_in_place = f_is_in_place,
	.open = open_mpich,
};
