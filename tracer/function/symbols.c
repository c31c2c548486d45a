/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/symbols.h"

#include "common/base/str.h"
#include "tracer/function/elsewhere.h"
#include "tracer/function/file_code.h"
#include "tracer/function/name.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_MAX SYMBOLS_LISTED_MAX /* the others are counted */
#define CANDIDATES_SHOWN 6
#define LIST_MAX_BYTES 2048
#define NAME_SHOWN_BYTES (2 * FUNCTION_NAME_BYTES) /* escaped */
#define FILE_SHOWN_BYTES 256

typedef char *demangle_fn(const char *name, char *out, size_t *n, int *status);

struct candidate {
	Dwfl_Module *module;
	uint64_t at;
	size_t n;
	char symbol[FUNCTION_NAME_BYTES], plain[FUNCTION_NAME_BYTES];
};

struct search {
	Dwfl *dwfl;
	void *library; /* of C++, if loaded; else NULL */
	demangle_fn *demangle; /* of that library */
	const char *name;
	enum name_fit best;
	size_t n, nmore; /* nmore: of them without room */
	bool is_inlined;
	struct candidate v[CANDIDATES_MAX];
};

/* six: libdw calls it. Separate debug files are not searched, some are in the network. */
static int no_debug_file(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **debug)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debug_file,
};

/* --- symbols of a name */

static bool is_known(const struct search *s, uint64_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].at == at)
			return true;
	return false;
}

/* Exact matches replace the others. */
static void note(struct search *s, Dwfl_Module *m, const struct candidate *c, enum name_fit fit)
{
	if (fit < s->best)
		return;
	if (fit > s->best)
		s->n = s->nmore = 0;
	s->best = fit;
	if (is_known(s, c->at))
		return;
	if (s->n == CANDIDATES_MAX) {
		s->nmore++;
		return;
	}
	s->v[s->n] = *c;
	s->v[s->n++].module = m;
}

static void examine(struct search *s, Dwfl_Module *m, const char *symbol,
		    const struct candidate *proto)
{
	struct candidate c = *proto;
	int status = -1;
	char *plain = s->demangle && !strncmp(symbol, "_Z", 2)
			      ? s->demangle(symbol, NULL, NULL, &status)
			      : NULL;
	enum name_fit fit = name_fits(s->name, symbol, plain);

	if (fit != NAME_DIFFERS) {
		snprintf(c.symbol, sizeof(c.symbol), "%s", symbol);
		snprintf(c.plain, sizeof(c.plain), "%s", plain ? plain : symbol);
		note(s, m, &c, fit);
	}
	free(plain);
}

/* six: libdw calls it. */
static int on_module(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr start, void *arg)
{
	struct search *s = arg;
	int n = dwfl_module_getsymtab(m);

	for (int i = 0; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		GElf_Word section;
		const char *symbol = dwfl_module_getsym_info(m, i, &sym, &at, &section, NULL, NULL);

		if (symbol && *symbol && section != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			examine(s, m, symbol, &(struct candidate){ .at = at, .n = sym.st_size });
	}
	return DWARF_CB_OK;
}

/* --- why there is none */

static int on_function(Dwarf_Die *die, void *arg)
{
	struct search *s = arg;
	const char *name = dwarf_diename(die), *base = strrchr(s->name, ':');

	if (name && dwarf_func_inline(die) && !strcmp(name, base ? base + 1 : s->name))
		s->is_inlined = true;
	return s->is_inlined ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int find_none(struct search *s, struct err *e)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while (!s->is_inlined && (unit = dwfl_nextcu(s->dwfl, unit, &bias)))
		dwarf_getfuncs(unit, on_function, s, 0);
	if (s->is_inlined)
		return err_set(e, ERR_INVALID,
			       "%.128s is inlined everywhere: it has no code of its own; build it "
			       "with __attribute__((noinline)), or measure a caller",
			       s->name);
	return err_set(e, ERR_INVALID,
		       "no file of the process has a function %.128s: it is misspelt, inlined, or "
		       "the file has been stripped",
		       s->name);
}

/* Otherwise only its symbol names it: constructors, and clones of a compiler. */
static bool is_plain_unique(const struct search *s, size_t number)
{
	for (size_t i = 0; i < s->n; i++)
		if (i != number && !strcmp(s->v[i].plain, s->v[number].plain))
			return false;
	return true;
}

static const char *name_of(const struct search *s, size_t i)
{
	return is_plain_unique(s, i) ? s->v[i].plain : s->v[i].symbol;
}

static int refuse_all(const struct search *s, struct err *e)
{
	struct buf b = BUF_INIT(LIST_MAX_BYTES);
	size_t n = s->n + s->nmore;

	for (size_t i = 0; i < s->n && i < CANDIDATES_SHOWN; i++)
		buf_printf(&b, "%s%.160s", i ? "; " : "", name_of(s, i));
	if (n > CANDIDATES_SHOWN)
		buf_printf(&b, "; and %zu more", n - CANDIDATES_SHOWN);
	err_set(e, ERR_INVALID, "%zu functions are called %.100s, name one of them: %s", n, s->name,
		buf_str(&b));
	buf_done(&b);
	return -ERR_INVALID;
}

static const char *file_of(Dwfl_Module *m)
{
	const char *name = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	return name ? name : "";
}

static int list_all(const struct search *s, struct buf *out)
{
	char name[NAME_SHOWN_BYTES], file[FILE_SHOWN_BYTES];

	for (size_t i = 0; i < s->n; i++) {
		const char *base = str_base_name(file_of(s->v[i].module));

		str_escape(name, sizeof(name), name_of(s, i), strlen(name_of(s, i)));
		str_escape(file, sizeof(file), base, strlen(base));
		buf_printf(out, "%s\t%s\t%" PRIu64 "\n", name, file, s->v[i].at);
	}
	if (s->nmore)
		buf_printf(out, "\t\t%zu\n", s->nmore);
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- its code */

/* Returns the number of bytes that the file has there, up to n. */
static size_t read_file(Dwfl_Module *m, uint64_t at, uint8_t *out, size_t n)
{
	struct file_code code = file_code_at(m, at);

	if (n > code.n)
		n = code.n;
	if (n)
		memcpy(out, code.bytes, n);
	return n;
}

/* Bytes behind the code up to the next symbol. */
static size_t padding_of(Dwfl_Module *m, uint64_t end)
{
	size_t room = FUNCTION_PADDING_BYTES;
	int n = dwfl_module_getsymtab(m);

	for (int i = 0; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		GElf_Word section;

		if (dwfl_module_getsym_info(m, i, &sym, &at, &section, NULL, NULL) &&
		    section != SHN_UNDEF && at >= end && at - end < room)
			room = (size_t)(at - end);
	}
	return room;
}

static int read_part(Dwfl_Module *m, uint64_t at, size_t n, struct function_part *out,
		     struct err *e)
{
	size_t got;

	if (!n)
		return err_set(e, ERR_UNSUPPORTED, "its symbol has no size");
	if (n > FUNCTION_MAX_BYTES)
		return err_set(e, ERR_UNSUPPORTED, "it has %zu bytes of code, %d are the limit", n,
			       FUNCTION_MAX_BYTES);
	out->at = at;
	out->n = n;
	got = read_file(m, at, out->bytes, n + padding_of(m, at + n));
	if (got < n)
		return err_set(e, ERR_UNSUPPORTED, "its file cannot be read");
	out->padding = got - n;
	return 0;
}

static int read_cold(const struct candidate *c, struct function_part *out, struct err *e)
{
	int n = dwfl_module_getsymtab(c->module);

	out->n = 0;
	for (int i = 0; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *symbol =
			dwfl_module_getsym_info(c->module, i, &sym, &at, NULL, NULL, NULL);
		const char *mark = symbol ? name_mark(symbol, c->symbol) : NULL;

		if (mark && name_is_cold(mark))
			return read_part(c->module, at, sym.st_size, out, e);
	}
	return 0;
}

static int read_code(const struct candidate *c, struct function_code *out, struct err *e)
{
	int rc = read_part(c->module, c->at, c->n, &out->part[0], e);

	if (!rc)
		rc = read_cold(c, &out->part[1], e);
	memcpy(out->symbol, c->symbol, sizeof(out->symbol));
	memcpy(out->plain, c->plain, sizeof(out->plain));
	return rc ? rc : elsewhere_find(c->module, out, e);
}

/* --- */

static demangle_fn *find_demangle(void *library)
{
	union {
		void *object;
		demangle_fn *function;
	} u = { .object = library ? dlsym(library, "__cxa_demangle") : NULL };

	return u.function;
}

/* Finds all of that name: one at least. */
static int search(struct search *s, int32_t pid, struct err *e)
{
	int rc;

	s->dwfl = dwfl_begin(&callbacks);
	if (!s->dwfl)
		return err_nomem(e);
	dwfl_report_begin(s->dwfl);
	rc = dwfl_linux_proc_report(s->dwfl, pid);
	if (dwfl_report_end(s->dwfl, NULL, NULL) || rc)
		return err_set(e, ERR_SYS, "the modules of process %d cannot be listed", (int)pid);
	dwfl_getmodules(s->dwfl, on_module, s, 0);
	return s->n ? 0 : find_none(s, e);
}

static void search_free(struct search *s)
{
	if (!s)
		return;
	if (s->dwfl)
		dwfl_end(s->dwfl);
	if (s->library)
		dlclose(s->library);
	free(s);
}

static int search_new(int32_t pid, const char *name, struct search **out, struct err *e)
{
	struct search *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	s->demangle = find_demangle(s->library);
	s->name = name;
	rc = search(s, pid, e);
	if (rc)
		search_free(s);
	else
		*out = s;
	return rc;
}

int symbols_find(int32_t pid, const char *name, struct function_code *out, struct err *e)
{
	struct search *s;
	int rc = search_new(pid, name, &s, e);

	if (rc)
		return rc;
	rc = s->n > 1 ? refuse_all(s, e) : read_code(&s->v[0], out, e);
	search_free(s);
	return rc;
}

int symbols_list(int32_t pid, const char *name, struct buf *out, struct err *e)
{
	struct search *s;
	int rc = search_new(pid, name, &s, e);

	if (rc)
		return rc;
	rc = list_all(s, out);
	search_free(s);
	return rc ? err_nomem(e) : 0;
}
