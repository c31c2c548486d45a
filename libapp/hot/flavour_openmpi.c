/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open MPI 4 (libmpi.so.40): handles are addresses, a status is {source, tag, error, cancelled,
 * bytes}.
 */
#include "common/ring/calls.h"
#include "libapp/hot/args.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/real.h"

#include <string.h>

struct openmpi_status {
	int32_t source, tag, error, cancelled;
	uint64_t bytes;
};

static const char *const sonames[] = { "libmpi.so.40", "libmpi_mpifh.so.40",
				       "libmpi_usempif08.so.40", NULL };

static struct {
	uintptr_t world, comm_null, type_null, win_null, request_null, request_empty;
	const void *status_ignore, *statuses_ignore, *in_place;
	uintptr_t (*comm)(int32_t), (*type)(int32_t), (*win)(int32_t), (*request)(int32_t);
} openmpi;

static void status_read(const void *status, struct status_view *out)
{
	struct openmpi_status s;

	memcpy(&s, status, sizeof(s));
	out->source = s.source;
	out->tag = s.tag;
	out->cancelled = s.cancelled != 0;
	out->bytes = (int64_t)s.bytes;
}

static uintptr_t comm_world(void)
{
	return openmpi.world;
}

static uintptr_t null_of(unsigned kind)
{
	switch (kind) {
	case CALL_P_COMM:
		return openmpi.comm_null;
	case CALL_P_TYPE:
		return openmpi.type_null;
	case CALL_P_WIN:
		return openmpi.win_null;
	default:
		return openmpi.request_null;
	}
}

static uintptr_t from_fortran(unsigned kind, int32_t f)
{
	switch (kind) {
	case CALL_P_COMM:
		return openmpi.comm ? openmpi.comm(f) : 0;
	case CALL_P_TYPE:
		return openmpi.type ? openmpi.type(f) : 0;
	case CALL_P_WIN:
		return openmpi.win ? openmpi.win(f) : 0;
	case CALL_P_REQUEST:
		return openmpi.request ? openmpi.request(f) : 0;
	default:
		return (uintptr_t)(uint32_t)f;
	}
}

static bool is_done(uintptr_t request)
{
	return request && request == openmpi.request_empty;
}

static bool f_status_is_ignored(const void *status, int lang)
{
	return !status || status == openmpi.status_ignore || status == openmpi.statuses_ignore;
}

static bool f_is_in_place(const void *buffer, int lang)
{
	return buffer == openmpi.in_place;
}

static void open_openmpi(void)
{
	openmpi.world = (uintptr_t)real_data("ompi_mpi_comm_world");
	openmpi.comm_null = (uintptr_t)real_data("ompi_mpi_comm_null");
	openmpi.type_null = (uintptr_t)real_data("ompi_mpi_datatype_null");
	openmpi.win_null = (uintptr_t)real_data("ompi_mpi_win_null");
	openmpi.request_null = (uintptr_t)real_data("ompi_request_null");
	openmpi.request_empty = (uintptr_t)real_data("ompi_request_empty");
	openmpi.status_ignore = real_data("mpi_fortran_status_ignore_");
	openmpi.statuses_ignore = real_data("mpi_fortran_statuses_ignore_");
	openmpi.in_place = real_data("mpi_fortran_in_place_");
	*(void **)&openmpi.comm = real_find("PMPI_Comm_f2c", "PMPI_Comm_f2c");
	*(void **)&openmpi.type = real_find("PMPI_Type_f2c", "PMPI_Type_f2c");
	*(void **)&openmpi.win = real_find("PMPI_Win_f2c", "PMPI_Win_f2c");
	*(void **)&openmpi.request = real_find("PMPI_Request_f2c", "PMPI_Request_f2c");
}

const struct flavour flavour_openmpi = {
	.id = SEG_FLAVOUR_OPENMPI,
	.sonames = sonames,
	.handle_bytes = 8,
	.status_bytes = sizeof(struct openmpi_status),
	.any_source = -1,
	.proc_null = -2,
	.root = -4,
	.undefined = -32766,
	.graph = 2,
	.cart = 1,
	.dist_graph = 3,
	.in_place = 1,
	.status_ignore = 0,
	.statuses_ignore = 0,
	.status_read = status_read,
	.comm_world = comm_world,
	.null_of = null_of,
	.from_fortran = from_fortran,
	.is_done = is_done,
	.f_status_is_ignored = f_status_is_ignored,
	.f_is_in_place = f_is_in_place,
	.open = open_openmpi,
};
