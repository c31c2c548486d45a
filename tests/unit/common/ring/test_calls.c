/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "common/ring/seg.h"
#include "tests/suite.h"

#include <string.h>

TEST(ids_names_and_classes_agree)
{
	ck_assert_uint_eq(call_count, CALL_COUNT);
	ck_assert_uint_le(call_count, SEG_HOOKS);
	for (unsigned i = 0; i < call_count; i++) {
		ck_assert_int_eq(call_find(call_get(i)->name), (int)i);
		ck_assert_str_ne(call_class_name(call_get(i)->class), "?");
	}
	ck_assert_str_eq(call_get(CALL_ID_Send)->name, "MPI_Send");
	ck_assert_str_eq(call_get(CALL_ID_Pcontrol)->name, "MPI_Pcontrol");
	ck_assert_ptr_null(call_get(call_count));
	ck_assert_int_eq(call_find("MPI_Sen"), -1);
	ck_assert_int_eq(call_find("send"), -1);
	ck_assert_str_eq(call_class_name(CALL_CLASSES), "?");
}

/* The numbers that tools of the field know. */
TEST(parameters_have_fixed_positions)
{
	const struct call_desc *d = call_get(CALL_ID_Send);

	ck_assert_uint_eq(d->start_length, 8);
	ck_assert_uint_eq(d->start_partner, 9);
	ck_assert_uint_eq(d->start_npar, 9);
	ck_assert_uint_eq(d->end_partner, 3);
	ck_assert_uint_eq(d->end_length, 4);
	d = call_get(CALL_ID_Recv);
	ck_assert_uint_eq(d->start_length, 0);
	ck_assert_uint_eq(d->start_partner, 8);
	ck_assert_uint_eq(d->end_length, 4);
	d = call_get(CALL_ID_Sendrecv);
	ck_assert_uint_eq(d->start_length, 13);
	ck_assert_uint_eq(d->start_partner, 14);
	d = call_get(CALL_ID_Barrier);
	ck_assert_uint_eq(d->start_npar, 2);
	ck_assert_uint_eq(d->end_npar, 2);
}

TEST(places_of_arguments_are_right)
{
	for (unsigned i = 0; i < call_count; i++) {
		const struct call_desc *d = call_get(i);

		ck_assert_uint_le(d->nparam, CALL_PARAMS_MAX);
		ck_assert(!d->count || d->param[d->count - 1].kind == CALL_P_COUNT);
		ck_assert(!d->type || d->param[d->type - 1].kind == CALL_P_TYPE);
		ck_assert(!d->peer || d->param[d->peer - 1].kind == CALL_P_PEER);
		ck_assert(!d->status || d->param[d->status - 1].kind == CALL_P_STATUS);
		ck_assert(!d->peer || d->comm); /* a rank is one of something */
	}
}

SUITE("calls")
