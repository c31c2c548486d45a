/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions compared with symbols of C, C++ and Fortran. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tracer/function/name.h"

static const struct row {
	const char *name, *symbol, *plain;
	enum name_fit fit;
} rows[] = {
	{ "compute", "compute", NULL, NAME_IS_SAME },
	{ "compute", "compute2", NULL, NAME_DIFFERS },
	{ "compute2", "compute", NULL, NAME_DIFFERS },
	{ "compute", "compute.constprop.0", NULL, NAME_FITS },
	{ "compute.constprop.0", "compute.constprop.0", NULL, NAME_IS_SAME },
	{ "compute", "compute.cold", NULL, NAME_DIFFERS },
	{ "a::f", "_ZN1a1fEi", "a::f(int)", NAME_FITS },
	{ "a::f(int)", "_ZN1a1fEi", "a::f(int)", NAME_IS_SAME },
	{ "a::f(long)", "_ZN1a1fEi", "a::f(int)", NAME_DIFFERS },
	{ "_ZN1a1fEi", "_ZN1a1fEi", "a::f(int)", NAME_IS_SAME },
	{ "f", "_ZN1a1fEi", "a::f(int)", NAME_DIFFERS },
	{ "f<int>", "_Z1fIiEvT_", "void f<int>(int)", NAME_FITS },
	{ "f", "_Z1fIiEvT_", "void f<int>(int)", NAME_FITS },
	{ "a::f", "_ZN1a1fI1bIiEEEvT_", "void a::f<b<int> >(b<int>)", NAME_FITS },
	{ "b", "_ZN1bIiE1fEv", "b<int>::f()", NAME_DIFFERS },
	{ "operator", "_ZgtRK1aS1_", "operator>(a const&, a const&)", NAME_DIFFERS },
	{ "(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()",
	  NAME_FITS },
	{ "flow::step", "__flow_MOD_step", NULL, NAME_FITS },
	{ "Flow::Step", "__flow_MOD_step", NULL, NAME_FITS },
	{ "flow::step", "__flow_MOD_step2", NULL, NAME_DIFFERS },
	{ "step", "step_", NULL, NAME_FITS },
	{ "STEP", "step_", NULL, NAME_FITS },
	{ "step", "my_step_", NULL, NAME_DIFFERS },
};

TEST_EACH(a_name_fits_its_symbols, at, ARRAY_LEN(rows))
{
	const struct row *r = &rows[at];

	ck_assert_int_eq(name_fits(r->name, r->symbol, r->plain), r->fit);
}

TEST(a_cold_part_is_known_as_such)
{
	ck_assert(name_is_cold("f.cold"));
	ck_assert(name_is_cold("f.cold.3"));
	ck_assert(!name_is_cold("f.colder"));
	ck_assert(!name_is_cold("cold"));
}

SUITE("names of functions")
