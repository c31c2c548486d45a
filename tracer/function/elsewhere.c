/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/elsewhere.h"

#include "tracer/function/decode.h"
#include "tracer/function/file_code.h"
#include "tracer/function/inlined.h"
#include "tracer/function/name.h"

#include <string.h>

#define NEAR_BYTES 144 /* the reach of a short jump, and the longest instruction */
#define CALL_OPCODE 0xe8
#define JUMP_OPCODE 0xe9
#define FAR_BYTES 4

/* --- jumps and calls with a far distance: each place in the file that could be one counts */

static bool is_far(const uint8_t *distance, size_t before)
{
	uint8_t last = before ? distance[-1] : 0;

	return last == CALL_OPCODE || last == JUMP_OPCODE ||
	       (before > 1 && distance[-2] == 0x0f && last >> 4 == 8);
}

/* A function's own jumps are known. */
static void note_far(const struct file_code *s, struct function_code *c)
{
	for (size_t i = 1; i + FAR_BYTES <= s->n; i++) {
		int32_t by;
		uint64_t from = s->at + i, to;

		memcpy(&by, s->bytes + i, sizeof(by));
		to = from + FAR_BYTES + (uint64_t)(int64_t)by;
		if (function_code_part(c, to) >= 0 && is_far(s->bytes + i, i) &&
		    function_code_part(c, from) < 0)
			function_code_led(c, to);
	}
}

/* --- symbols */

/* Each piece of the function has its symbol; those that are not such a piece are its clones. */
static bool is_other_piece(const struct function_code *c, const char *symbol, uint64_t at)
{
	const char *mark = name_mark(symbol, c->symbol);

	return mark && function_code_part(c, at) < 0 &&
	       (name_is_cold(mark) || !strncmp(mark, ".__part.", 8) || !strncmp(mark, ".warm", 5));
}

static bool is_near(const struct function_code *c, uint64_t at, uint64_t n)
{
	for (unsigned i = 0; i < FUNCTION_PARTS; i++)
		if (c->part[i].n && at < c->part[i].at + c->part[i].n + NEAR_BYTES &&
		    at + n + NEAR_BYTES > c->part[i].at)
			return true;
	return false;
}

static void note_symbol(Dwfl_Module *m, const GElf_Sym *sym, uint64_t at, struct function_code *c)
{
	struct file_code code;

	if (function_code_part(c, at) >= 0)
		function_code_led(c, at);
	else if (is_near(c, at, sym->st_size)) {
		code = file_code_at(m, at);
		if (code.n > sym->st_size)
			code.n = sym->st_size;
		decode_led(&code, c);
	}
}

static int check_symbol(const struct function_code *c, const char *symbol, uint64_t at,
			struct err *e)
{
	if (is_other_piece(c, symbol, at))
		return err_set(e, ERR_UNSUPPORTED, "its code has more pieces: %.128s", symbol);
	if (!strncmp(symbol, "OUTLINED_FUNCTION_", 18))
		return err_set(e, ERR_UNSUPPORTED,
			       "its file has code that functions share (-mno-outline)");
	return 0;
}

/* Of a stripped file some pieces of a function may have no symbol. */
static int note_symbols(Dwfl_Module *m, struct function_code *c, struct err *e)
{
	int n = dwfl_module_getsymtab(m), rc = 0;
	bool has_local = false;

	for (int i = 0; !rc && i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		GElf_Word section;
		const char *symbol = dwfl_module_getsym_info(m, i, &sym, &at, &section, NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);

		if (!symbol || section == SHN_UNDEF || section == SHN_ABS ||
		    (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC))
			continue;
		has_local |= type == STT_FUNC && GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		rc = check_symbol(c, symbol, at, e);
		note_symbol(m, &sym, at, c);
	}
	if (!rc && !has_local)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "its file has been stripped: code that belongs to it is not known");
	return rc;
}

/* --- calls that do not pass through it */

static bool is_clone(const struct function_code *c, const char *symbol, uint64_t at)
{
	return name_mark(symbol, c->symbol) && function_code_part(c, at) < 0;
}

static void count_others(Dwfl_Module *m, struct function_code *c)
{
	int n = dwfl_module_getsymtab(m);

	c->ncopy = inlined_copies(m, c->part[0].at);
	c->nclone = 0;
	for (int i = 0; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *symbol = dwfl_module_getsym_info(m, i, &sym, &at, NULL, NULL, NULL);

		c->nclone +=
			symbol && GELF_ST_TYPE(sym.st_info) == STT_FUNC && is_clone(c, symbol, at);
	}
}

int elsewhere_find(Dwfl_Module *m, struct function_code *c, struct err *e)
{
	struct file_code s;
	int rc;

	c->nled = 0;
	rc = note_symbols(m, c, e);
	for (size_t i = 0; !rc && file_code_segment(m, i, &s); i++)
		note_far(&s, c);
	if (!rc && c->nled == FUNCTION_LED_MAX)
		rc = err_set(e, ERR_UNSUPPORTED, "too much other code leads into it");
	if (!rc)
		count_others(m, c);
	return rc;
}
