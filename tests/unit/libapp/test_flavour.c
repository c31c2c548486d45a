/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the MPI libraries: numbers, handles, statuses, Fortran's constants. */
#include "common/ring/calls.h"
#include "libapp/hot/args.h"
#include "libapp/hot/flavour.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Exports of Open MPI. */
EXPORT extern char ompi_mpi_comm_world[8], ompi_mpi_comm_null[8], ompi_mpi_datatype_null[8],
	ompi_mpi_win_null[8], ompi_request_null[8], mpi_fortran_status_ignore_[8],
	mpi_fortran_statuses_ignore_[8], mpi_fortran_in_place_[8];
char ompi_mpi_comm_world[8], ompi_mpi_comm_null[8], ompi_mpi_datatype_null[8], ompi_mpi_win_null[8],
	ompi_request_null[8], mpi_fortran_status_ignore_[8], mpi_fortran_statuses_ignore_[8],
	mpi_fortran_in_place_[8];

#define F2C(name, more)                               \
	uintptr_t PMPI_##name##_f2c(int32_t f);       \
	EXPORT uintptr_t PMPI_##name##_f2c(int32_t f) \
	{                                             \
		return (uintptr_t)f + more;           \
	}
F2C(Comm, 1000)
F2C(Type, 2000)
F2C(Win, 3000)
F2C(Request, 4000)

/* Exports of MPICH for mpi_f08; those for mpif.h are in fake_mpi.c. */
static int f08_status, statuses;
EXPORT extern int MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_IN_PLACE;
EXPORT extern void *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F_STATUS_IGNORE,
	*MPI_F08_STATUSES_IGNORE, *MPIR_F_MPI_IN_PLACE;
void *MPI_F_STATUSES_IGNORE = &statuses, *MPI_F08_STATUS_IGNORE = &f08_status;

static uintptr_t address(const void *p)
{
	return (uintptr_t)p;
}

TEST(numbers_are_those_of_the_headers)
{
	const struct flavour *o = &flavour_openmpi, *m = &flavour_mpich;

	ck_assert_uint_eq(o->id, SEG_FLAVOUR_OPENMPI);
	ck_assert_uint_eq(o->handle_bytes, 8);
	ck_assert_uint_eq(o->status_bytes, 24);
	ck_assert_int_eq(o->any_source, -1);
	ck_assert_int_eq(o->proc_null, -2);
	ck_assert_int_eq(o->root, -4);
	ck_assert_int_eq(o->undefined, -32766);
	ck_assert_int_eq(o->cart, 1);
	ck_assert_int_eq(o->graph, 2);
	ck_assert_int_eq(o->dist_graph, 3);
	ck_assert_uint_eq(o->in_place, 1);
	ck_assert_uint_eq(o->status_ignore, 0);
	ck_assert_uint_eq(o->statuses_ignore, 0);
	ck_assert_uint_eq(m->id, SEG_FLAVOUR_MPICH);
	ck_assert_uint_eq(m->handle_bytes, 4);
	ck_assert_uint_eq(m->status_bytes, 20);
	ck_assert_int_eq(m->any_source, -2);
	ck_assert_int_eq(m->proc_null, -1);
	ck_assert_int_eq(m->root, -3);
	ck_assert_int_eq(m->undefined, -32766);
	ck_assert_int_eq(m->graph, 1);
	ck_assert_int_eq(m->cart, 2);
	ck_assert_int_eq(m->dist_graph, 3);
	ck_assert_uint_eq(m->in_place, UINTPTR_MAX);
	ck_assert_uint_eq(m->status_ignore, 1);
	ck_assert_uint_eq(m->statuses_ignore, 1);
	ck_assert_str_eq(o->sonames[0], "libmpi.so.40");
	ck_assert_ptr_null(o->sonames[3]);
	ck_assert_str_eq(m->sonames[3], "libmpifort.so.12");
	ck_assert_ptr_null(m->sonames[4]);
}

TEST(handles_are_those_of_the_library)
{
	const struct flavour *o = &flavour_openmpi, *m = &flavour_mpich;

	o->open();
	ck_assert_uint_eq(o->comm_world(), address(ompi_mpi_comm_world));
	ck_assert_uint_eq(o->null_of(CALL_P_COMM), address(ompi_mpi_comm_null));
	ck_assert_uint_eq(o->null_of(CALL_P_TYPE), address(ompi_mpi_datatype_null));
	ck_assert_uint_eq(o->null_of(CALL_P_WIN), address(ompi_mpi_win_null));
	ck_assert_uint_eq(o->null_of(CALL_P_REQUEST), address(ompi_request_null));
	ck_assert_uint_eq(o->from_fortran(CALL_P_COMM, 5), 1005);
	ck_assert_uint_eq(o->from_fortran(CALL_P_TYPE, 5), 2005);
	ck_assert_uint_eq(o->from_fortran(CALL_P_WIN, 5), 3005);
	ck_assert_uint_eq(o->from_fortran(CALL_P_REQUEST, 5), 4005);
	ck_assert_uint_eq(o->from_fortran(CALL_P_HANDLE, -1), UINT32_MAX);
	ck_assert_uint_eq(m->comm_world(), FAKE_WORLD);
	ck_assert_uint_eq(m->null_of(CALL_P_COMM), FAKE_COMM_NULL);
	ck_assert_uint_eq(m->null_of(CALL_P_TYPE), 0x0c000000);
	ck_assert_uint_eq(m->null_of(CALL_P_WIN), 0x20000000);
	ck_assert_uint_eq(m->null_of(CALL_P_REQUEST), (uint32_t)FAKE_REQUEST_NULL);
	ck_assert_uint_eq(m->from_fortran(CALL_P_COMM, -5), (uint32_t)-5);
}

TEST(statuses_are_read_where_the_library_writes_them)
{
	const int32_t mpich[5] = { 7, 0, 3, 9, 0 }, mpich_large[5] = { -1, 2 << 1 | 1, 3, 9, 0 };
	int32_t openmpi[6] = { 3, 9, 0, 0, 7, 0 };
	struct status_view v;

	flavour_mpich.status_read(mpich, &v);
	ck_assert(v.source == 3 && v.bytes == 7 && !v.cancelled);
	flavour_mpich.status_read(mpich_large, &v);
	ck_assert(v.source == 3 && v.bytes == INT64_C(0x2ffffffff) && v.cancelled);
	flavour_openmpi.status_read(openmpi, &v);
	ck_assert(v.source == 3 && v.bytes == 7 && !v.cancelled);
	openmpi[3] = 1;
	openmpi[5] = 2;
	flavour_openmpi.status_read(openmpi, &v);
	ck_assert(v.source == 3 && v.bytes == INT64_C(0x200000007) && v.cancelled);
}

TEST(constants_of_fortran_are_known)
{
	const struct flavour *o = &flavour_openmpi, *m = &flavour_mpich;
	const void *descriptor = MPIR_F_MPI_IN_PLACE, *other = &descriptor;
	int status[6];

	o->open();
	m->open();
	ck_assert(o->f_status_is_ignored(NULL, LANG_F));
	ck_assert(o->f_status_is_ignored(mpi_fortran_status_ignore_, LANG_F));
	ck_assert(o->f_status_is_ignored(mpi_fortran_statuses_ignore_, LANG_F));
	ck_assert(!o->f_status_is_ignored(status, LANG_F));
	ck_assert(o->f_is_in_place(mpi_fortran_in_place_, LANG_F));
	ck_assert(!o->f_is_in_place(status, LANG_F));
	ck_assert(m->f_status_is_ignored(NULL, LANG_F));
	ck_assert(m->f_status_is_ignored(MPI_F_STATUS_IGNORE, LANG_F));
	ck_assert(m->f_status_is_ignored(MPI_F_STATUSES_IGNORE, LANG_F));
	ck_assert(m->f_status_is_ignored(MPI_F08_STATUS_IGNORE, LANG_F));
	ck_assert(m->f_status_is_ignored(MPI_F08_STATUSES_IGNORE, LANG_F));
	ck_assert(!m->f_status_is_ignored(status, LANG_F));
	ck_assert(m->f_is_in_place(MPIR_F_MPI_IN_PLACE, LANG_F));
	ck_assert(m->f_is_in_place(&MPIR_F08_MPI_IN_PLACE, LANG_F));
	ck_assert(!m->f_is_in_place(status, LANG_F));
	ck_assert(!m->f_is_in_place(NULL, LANG_F));
	ck_assert(!m->f_is_in_place(NULL, LANG_TS));
	ck_assert(m->f_is_in_place(&descriptor, LANG_TS));
	ck_assert(!m->f_is_in_place(&other, LANG_TS));
}

TEST(an_mpi_library_is_known_by_its_version_text)
{
	ck_assert_ptr_eq(flavour_from_version("Open MPI v4.1.4, package"), &flavour_openmpi);
	ck_assert_ptr_null(flavour_from_version("Open MPI v5.0"));
	ck_assert_ptr_null(flavour_from_version("Open MPI v"));
	ck_assert_ptr_eq(flavour_from_version("MPICH Version: 4"), &flavour_mpich);
	ck_assert_ptr_eq(flavour_from_version("MVAPICH2"), &flavour_mpich);
	ck_assert_ptr_eq(flavour_from_version("Intel(R) MPI Library"), &flavour_mpich);
	ck_assert_ptr_eq(flavour_from_version("CRAY MPICH"), &flavour_mpich);
	ck_assert_ptr_null(flavour_from_version("MPIC"));
	ck_assert_ptr_null(flavour_from_version(""));
	flavour = &flavour_mpich;
	ck_assert(handle_is_usable(CALL_P_COMM, FAKE_WORLD));
	ck_assert(handle_is_usable(CALL_P_COMM, FAKE_WORLD | UINT64_C(1) << 40));
	ck_assert(!handle_is_usable(CALL_P_COMM, FAKE_COMM_NULL));
	ck_assert(!handle_is_usable(CALL_P_COMM, FAKE_COMM_NULL | UINT64_C(1) << 40));
	ck_assert(!handle_is_usable(CALL_P_COMM, 0));
	flavour = &flavour_openmpi;
	flavour->open();
	ck_assert(handle_is_usable(CALL_P_COMM, UINT64_C(1) << 40));
	ck_assert(!handle_is_usable(CALL_P_COMM, address(ompi_mpi_comm_null)));
}

SUITE("flavour")
