/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

struct count {
	Dwarf_Addr at;
	size_t n;
};

static int on_copy(Dwarf_Die *copy, void *arg)
{
	((struct count *)arg)->n++;
	return DWARF_CB_OK;
}

/* A function that is inlined somewhere has an abstract form, to which its copies refer. */
static int on_function(Dwarf_Die *die, void *arg)
{
	struct count *c = arg;
	Dwarf_Attribute origin;
	Dwarf_Die abstract;
	Dwarf_Addr at;

	if (dwarf_entrypc(die, &at) || at != c->at)
		return DWARF_CB_OK;
	if (dwarf_attr(die, DW_AT_abstract_origin, &origin) &&
	    dwarf_formref_die(&origin, &abstract))
		dwarf_func_inline_instances(&abstract, on_copy, c);
	return DWARF_CB_ABORT;
}

size_t inlined_copies(Dwfl_Module *m, uint64_t at)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(m, at, &bias);
	struct count c = { at - bias, 0 };

	if (unit)
		dwarf_getfuncs(unit, on_function, &c, 0);
	return c.n;
}
