/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of probes: accepted ones, errors and their places, and the output. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tools/probes/probe_write.h"

#include <string.h>

static struct probe_decls decls;
static struct pmsl_diags diags;

static void read_text(const char *text, size_t n)
{
	const struct pmsl_source s = { "t.probes", text, n };

	diags = PMSL_DIAGS_INIT;
	probe_decls_read(&s, &diags, &decls);
}

static const char *types_of(const struct probe_decl *p)
{
	static char text[256];

	text[0] = 0;
	for (unsigned i = 0; i < p->nparam; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 seg_type_name(p->param[i].type->type));
	return text;
}

TEST(prototypes_empty_functions_and_probe_declarations_are_taken)
{
	static const struct {
		const char *text, *name, *types;
		unsigned vt;
	} good[] = {
		{ "void step(int vt);", "step", "int32", 0 },
		{ "extern void step ( long ) ;", "step", "int64", 0 },
		{ "void region_end_event(int vt, double residuum) {}", "region_end_event",
		  "int32 float64", 0 },
		{ "void s(double d, const unsigned char c){};", "s", "float64 uint8", 1 },
		{ "/* a */ void // b\ns(bool b, int unsigned long x, float)\n;", "s",
		  "bool uint64 float32", 1 },
		{ "void s(long long int a, unsigned b, short int c, signed char d, int8_t e, "
		  "size_t f);",
		  "s", "int64 uint32 int16 int8 int8 uint64", 0 },
		{ "PROBE iteration_end(Process, VirtualTime);", "iteration_end", "int32", 0 },
		{ "probe e(Process p, VirtualTime vt, Value x, Value y);", "e",
		  "int32 float64 float64", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		read_text(good[i].text, strlen(good[i].text));
		ck_assert_msg(diags.n == 0, "%s: %s", good[i].text, diags.v[0].text);
		ck_assert_uint_eq(decls.n, 1);
		ck_assert_str_eq(decls.v[0].name, good[i].name);
		ck_assert_str_eq(types_of(&decls.v[0]), good[i].types);
		ck_assert_uint_eq(decls.v[0].vt, good[i].vt);
	}
}

TEST(declaration_error_reports_its_offset)
{
	static const struct {
		const char *text, *words;
		uint32_t at; /* offset of the first */
		const char *hint; /* part of it; NULL: none */
	} bad[] = {
		{ "", "no probe", PMSL_NOWHERE, NULL },
		{ "int x(int a);", "declared by void", 0, NULL },
		{ "void x(char *a);", "no addresses", 12, "pass the value: char" },
		{ "void x(int a[3]);", "no arrays", 12, NULL },
		{ "void x(double d);", "no virtual time", 5, "void x(int vt" },
		{ "void x();", "no virtual time", 5, "void x(int vt" },
		{ "void x(int vt, dobule d);", "of this type", 15, "did you mean double?" },
		{ "void x(int vt, long double d);", "of this type", 15, "events carry a double" },
		{ "void x(int vt, struct s v);", "of this type", 15, "one by one" },
		{ "void x(int vt, int vt);", "'vt' already", 19, NULL },
		{ "void x(int while);", "is a word of C", 11, NULL },
		{ "void x(int vt) { return; }", "does nothing", 17, NULL },
		{ "void x(int vt", "',' or ')'", 13, NULL },
		{ "void x(int vt)", "';'", 14, NULL },
		{ "void 3x(int vt);", "the name of a probe", 5, NULL },
		{ "void MPI_x(int vt);", "are reserved", 5, NULL },
		{ "void x(int vt); void x(int vt);", "there is a probe x already", 21, NULL },
		{ "void x(int vt); void X(int vt);", "in Fortran", 21, NULL },
		{ "PROBE x(VirtualTime);", "Process is expected", 8, "PROBE x(Process" },
		{ "void x(int vt); /* ", "does not end", 16, NULL },
		{ "\xff", "declared by", 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct pmsl_diag *d = &diags.v[0];

		read_text(bad[i].text, strlen(bad[i].text));
		ck_assert_msg(diags.nerror == 1, "%s: %zu errors", bad[i].text, diags.nerror);
		ck_assert_msg(strstr(d->text, bad[i].words), "%s: %s", bad[i].text, d->text);
		ck_assert_msg(d->at == bad[i].at, "%s: at %u", bad[i].text, d->at);
		if (bad[i].hint)
			ck_assert_msg(strstr(d->hint, bad[i].hint), "%s: %s", bad[i].text, d->hint);
	}
}

TEST(limits_are_kept)
{
	struct buf b = BUF_INIT(1 << 20);

	for (int i = 0; i <= SEG_PROBES_EACH; i++)
		buf_printf(&b, "void p%d(int vt);\n", i);
	read_text(buf_str(&b), b.n);
	ck_assert_uint_eq(decls.n, SEG_PROBES_EACH);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "64 probes at the most"));
	buf_clear(&b);
	buf_puts(&b, "void p(int vt");
	for (int i = 1; i < SEG_PROBE_PARAMS; i++)
		buf_puts(&b, ", double");
	buf_puts(&b, ");");
	read_text(buf_str(&b), b.n);
	ck_assert_uint_eq(diags.n, 0);
	ck_assert_uint_eq(decls.v[0].nparam, SEG_PROBE_PARAMS);
	b.n -= 2;
	buf_puts(&b, ", double);");
	read_text(buf_str(&b), b.n);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "14 parameters at the most"));
	buf_clear(&b);
	buf_printf(&b, "void %064d(int vt);", 0);
	b.p[5] = 'a';
	read_text(buf_str(&b), b.n);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "63 characters at the most"));
	buf_done(&b);
}

/* Pieces of declarations in any order: an error or a good declaration, whatever comes. */
TEST(nothing_that_is_written_breaks_the_reader)
{
	static const char *const piece[] = { "void",  "PROBE", "Process", "VirtualTime", "Value",
					     "(",     ")",     ",",	  ";",		 "{",
					     "}",     "int",   "long",	  "x",		 "y",
					     "/*",    "*/",    "//",	  "\n",		 "*",
					     "[",     "\x80",  "const",	  "double",	 "unsigned",
					     "struct" };
	struct rng rng;
	char text[512];
	size_t n;

	rng_init(&rng, suite_seed(11));
	for (int i = 0; i < 50000; i++) {
		n = 0;
		for (uint64_t k = rng_below(&rng, 40); k > 0; k--)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
					      piece[rng_below(&rng, ARRAY_LEN(piece))],
					      rng_below(&rng, 4) ? " " : "");
		read_text(text, n);
		ck_assert(decls.n || diags.nerror);
		for (unsigned k = 0; k < decls.n; k++) {
			const struct probe_decl *p = &decls.v[k];

			ck_assert_uint_lt(p->vt, p->nparam);
			ck_assert(p->name[0] && !SEG_IS_FLOAT(p->param[p->vt].type->type));
		}
	}
}

TEST(the_virtual_time_is_reported_first_wherever_it_stands)
{
	static const char text[] = "void x(double a, float b, int vt, bool c);";
	struct buf b = BUF_INIT(1 << 20);

	read_text(text, strlen(text));
	probe_write_c(&b, &decls, "some-file");
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig_types_0[] = { 3, 10, 9, 0 };"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig_v[0].i = (long long)vt;"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig_v[1].f = a;"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig_v[2].f = b;"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig_v[3].i = (long long)c;"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "struct omig_probes omig_probes_some_file ="));
	ck_assert_ptr_nonnull(strstr(buf_str(&b),
				     "void x_(const double *a, const float *b, const int *vt, "
				     "const bool *c)"));
	buf_done(&b);
}

SUITE("declarations of probes")
