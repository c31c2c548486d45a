/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tools/libomis/omis.h"

#include <string.h>

static const char text[] = "1,-2.5,\"a\\nb\",n_1,[1,[2,3],[]],3#\0x\0";

TEST(each_kind_of_value_is_read)
{
	Omis_value *v = omis_value_parse(text, sizeof(text) - 1);
	const Omis_value *l;

	ck_assert_ptr_nonnull(v);
	ck_assert_int_eq(v->kind, OMIS_VALUE_LIST);
	ck_assert_uint_eq(v->n, 6);
	l = v->list;
	ck_assert_int_eq(l[0].kind, OMIS_VALUE_INT);
	ck_assert_int_eq(l[0].i, 1);
	ck_assert_double_eq(l[0].f, 1);
	ck_assert_int_eq(l[1].kind, OMIS_VALUE_FLOAT);
	ck_assert_double_eq(l[1].f, -2.5);
	ck_assert_int_eq(l[2].kind, OMIS_VALUE_STRING);
	ck_assert_str_eq(l[2].s, "a\nb");
	ck_assert_int_eq(l[3].kind, OMIS_VALUE_TOKEN);
	ck_assert_str_eq(l[3].s, "n_1");
	ck_assert_int_eq(l[5].kind, OMIS_VALUE_BINARY);
	ck_assert_uint_eq(l[5].n, 3);
	ck_assert_mem_eq(l[5].s, "\0x\0", 3);
	omis_value_free(v);
}

TEST(lists_nest)
{
	Omis_value *v = omis_value_parse(text, sizeof(text) - 1);
	const Omis_value *inner = &v->list[4];

	ck_assert_int_eq(inner->kind, OMIS_VALUE_LIST);
	ck_assert_uint_eq(inner->n, 3);
	ck_assert_int_eq(inner->list[0].i, 1);
	ck_assert_uint_eq(inner->list[1].n, 2);
	ck_assert_int_eq(inner->list[1].list[1].i, 3);
	ck_assert_uint_eq(inner->list[2].n, 0);
	omis_value_free(v);
}

TEST(nothing_is_an_empty_list_and_nonsense_is_nothing)
{
	Omis_value *v = omis_value_parse(NULL, 0);

	ck_assert_ptr_nonnull(v);
	ck_assert_uint_eq(v->n, 0);
	omis_value_free(v);
	ck_assert_ptr_null(omis_value_parse("1,,2", 4));
	ck_assert_str_ne(omis_last_error(), "");
	ck_assert_ptr_null(omis_value_parse("1,[$proc]", 9));
	ck_assert_ptr_null(omis_value_parse("no such file", 12));
	omis_value_free(NULL);
}

TEST(running_out_of_memory_leaks_nothing)
{
	ALLOC_SWEEP (k) {
		Omis_value *v = omis_value_parse(text, sizeof(text) - 1);

		alloc_sweep_pause();
		ck_assert(v != NULL || alloc_sweep_has_failed());
		omis_value_free(v);
	}
}

TEST(the_catalogue_is_reported_without_internal_services)
{
	Omis_service_info s, last = { .name = "" };
	unsigned i;
	int has_version = 0;

	for (i = 0; omis_service_info(i, &s); i++) {
		ck_assert_str_ne(s.name, last.name);
		ck_assert_str_ne(s.name, "omig_pa_create");
		ck_assert_ptr_nonnull(strchr(s.signature, '('));
		ck_assert_str_ne(s.help, "");
		has_version |= strcmp(s.name, "version") == 0;
		last = s;
	}
	ck_assert_uint_gt(i, 100);
	ck_assert(has_version);
}

SUITE("values")
