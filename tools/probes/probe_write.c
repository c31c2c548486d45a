/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/probes/probe_write.h"

#include "common/base/str.h"

#include <ctype.h>
#include <string.h>

/* The whole libapp/setup/probe_abi.h: the output must not include a header of Omig. */
extern const char probe_abi_text[];

#define MADE "Made by `omig probes`: what is changed here is lost."
#define FORTRAN_LINE 120 /* of 132 */

static void put_stem(struct buf *b, const char *stem)
{
	for (; *stem; stem++)
		buf_putc(b, isalnum((unsigned char)*stem) ? (uint8_t)*stem : '_');
}

/* "int vt, double residuum". */
static void probe_write_params(struct buf *b, const struct probe_decl *p)
{
	for (unsigned i = 0; i < p->nparam; i++)
		buf_printf(b, "%s%s %s", i ? ", " : "", p->param[i].type->c, p->param[i].name);
}

static void put_prototype(struct buf *b, const struct probe_decl *p)
{
	buf_printf(b, "void %s(", p->name);
	probe_write_params(b, p);
	buf_puts(b, ")");
}

/* Returns the index of the i-th parameter of an event: the virtual time is first. */
static unsigned param_index(const struct probe_decl *p, unsigned i)
{
	if (i == 0)
		return p->vt;
	return i <= p->vt ? i - 1 : i;
}

static void put_table(struct buf *b, const struct probe_decls *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		buf_printf(b, "static const unsigned char omig_types_%u[] = {", i);
		for (unsigned k = 0; k < p->v[i].nparam; k++)
			buf_printf(b, "%s%d", k ? ", " : " ",
				   (int)p->v[i].param[param_index(&p->v[i], k)].type->type);
		buf_puts(b, " };\n");
	}
	buf_puts(b, "static const struct omig_probe omig_table[] = {\n");
	for (unsigned i = 0; i < p->n; i++)
		buf_printf(b, "\t{ \"%s\", omig_types_%u, %u },\n", p->v[i].name, i,
			   p->v[i].nparam);
	buf_puts(b, "};\n");
}

static void put_module(struct buf *b, const struct probe_decls *p, const char *stem)
{
	buf_puts(b, "static unsigned omig_word[OMIG_PROBE_PAGE / sizeof(unsigned)]\n"
		    "\t__attribute__((aligned(OMIG_PROBE_PAGE)));\n");
	buf_puts(b,
		 "__attribute__((visibility(\"hidden\"), used)) struct omig_probes omig_probes_");
	put_stem(b, stem);
	buf_printf(b, " = {\n\tOMIG_PROBE_ABI, %u, omig_table, omig_word, 0, 0\n};\n", p->n);
	buf_puts(b, "#define OMIG_MODULE omig_probes_");
	put_stem(b, stem);
	buf_puts(b, "\n__asm__(\".pushsection .note.omig,\\\"a\\\",%note\\n\"\n"
		    "\t\".balign 4\\n.long 5, 8, 1\\n.asciz \\\"OMIG\\\"\\n.balign 4\\n\"\n"
		    "\t\"0: .quad omig_probes_");
	put_stem(b, stem);
	buf_puts(b, " - 0b\\n.popsection\\n\");\n\n");
}

/* The first two lines are the whole cost of an inactive probe. */
static void put_function(struct buf *b, const struct probe_decl *p, unsigned number)
{
	put_prototype(b, p);
	buf_puts(b, ";\n");
	put_prototype(b, p);
	buf_printf(b,
		   "\n{\n\tunsigned omig_on = *(const volatile unsigned *)&omig_word[%u];\n\n"
		   "\tif (__builtin_expect(omig_on != 0, 0)) {\n"
		   "\t\tunion omig_value omig_v[%u];\n\n",
		   number, p->nparam);
	for (unsigned i = 0; i < p->nparam; i++) {
		const struct probe_param *from = &p->param[param_index(p, i)];

		if (SEG_IS_FLOAT(from->type->type))
			buf_printf(b, "\t\tomig_v[%u].f = %s;\n", i, from->name);
		else
			buf_printf(b, "\t\tomig_v[%u].i = (long long)%s;\n", i, from->name);
	}
	buf_printf(b, "\t\tOMIG_MODULE.hit(OMIG_MODULE.first + %u, omig_on, omig_v);\n\t}\n}\n",
		   number);
}

static void put_lower(struct buf *b, const char *name, const char *end)
{
	for (; *name; name++)
		buf_putc(b, (uint8_t)tolower((unsigned char)*name));
	buf_puts(b, end);
}

static void put_upper(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_putc(b, (uint8_t)toupper((unsigned char)*name));
}

static bool is_upper(const char *name)
{
	for (; *name; name++)
		if (islower((unsigned char)*name))
			return false;
	return true;
}

static void put_addresses(struct buf *b, const struct probe_decl *p)
{
	buf_puts(b, "(");
	for (unsigned i = 0; i < p->nparam; i++)
		buf_printf(b, "%sconst %s *%s", i ? ", " : "", p->param[i].type->c,
			   p->param[i].name);
	buf_puts(b, ")");
}

static void put_alias(struct buf *b, const struct probe_decl *p, const char *end)
{
	buf_puts(b, "void ");
	if (*end)
		put_lower(b, p->name, end);
	else
		put_upper(b, p->name);
	put_addresses(b, p);
	buf_puts(b, " __attribute__((alias(\"");
	put_lower(b, p->name, "_");
	buf_puts(b, "\")));\n");
}

/* The spellings of Fortran compilers; all is passed by address there. */
static void put_fortran_names(struct buf *b, const struct probe_decl *p)
{
	for (int is_body = 0; is_body < 2; is_body++) {
		buf_puts(b, "void ");
		put_lower(b, p->name, "_");
		put_addresses(b, p);
		buf_puts(b, is_body ? "\n{\n\t" : ";\n");
	}
	buf_printf(b, "%s(", p->name);
	for (unsigned i = 0; i < p->nparam; i++)
		buf_printf(b, "%s*%s", i ? ", " : "", p->param[i].name);
	buf_puts(b, ");\n}\n");
	put_alias(b, p, "__");
	if (!is_upper(p->name))
		put_alias(b, p, "");
	buf_puts(b, "\n");
}

void probe_write_c(struct buf *b, const struct probe_decls *p, const char *stem)
{
	buf_puts(b, "/* " MADE
		    " */\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
	buf_puts(b, probe_abi_text);
	buf_puts(b, "\n");
	put_table(b, p);
	put_module(b, p, stem);
	for (unsigned i = 0; i < p->n; i++) {
		put_function(b, &p->v[i], i);
		put_fortran_names(b, &p->v[i]);
	}
}

void probe_write_header(struct buf *b, const struct probe_decls *p, const char *stem)
{
	buf_puts(b, "/* " MADE " */\n#ifndef OMIG_PROBES_OF_");
	put_stem(b, stem);
	buf_puts(b, "\n#define OMIG_PROBES_OF_");
	put_stem(b, stem);
	buf_puts(b, "\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
		    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	for (unsigned i = 0; i < p->n; i++) {
		put_prototype(b, &p->v[i]);
		buf_puts(b, ";\n");
	}
	buf_puts(b, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static void put_interface(struct buf *b, const struct probe_decl *p)
{
	size_t line;

	buf_printf(b, "    subroutine %s(", p->name);
	line = b->n;
	for (unsigned i = 0; i < p->nparam; i++) {
		if (b->n - line + strlen(p->param[i].name) > FORTRAN_LINE - 80) {
			buf_puts(b, "&\n      ");
			line = b->n;
		}
		buf_printf(b, "%s%s", p->param[i].name, i + 1 < p->nparam ? ", " : "");
	}
	buf_printf(b, ") &\n      bind(C, name=\"%s\")\n      use, intrinsic :: iso_c_binding\n",
		   p->name);
	for (unsigned i = 0; i < p->nparam; i++)
		buf_printf(b, "      %s, value :: %s\n", p->param[i].type->fortran,
			   p->param[i].name);
	buf_printf(b, "    end subroutine\n");
}

void probe_write_fortran(struct buf *b, const struct probe_decls *p, const char *stem)
{
	buf_puts(b, "! " MADE "\nmodule ");
	put_stem(b, stem);
	buf_puts(b, "\n  implicit none\n  interface\n");
	for (unsigned i = 0; i < p->n; i++)
		put_interface(b, &p->v[i]);
	buf_puts(b, "  end interface\nend module\n");
}
