/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/unwind.h"

#include "tracer/debug_file.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

struct unwinder {
	Dwfl *dwfl; /* NULL: none yet */
	int32_t pid;
	uint64_t start;
	/* of the run that is under way */
	const struct stack *stack;
	struct frame *frame;
	size_t n, max;
};

/* six: libdw calls it. */
int tracer_no_debug_file(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **debug)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = tracer_no_debug_file,
};

struct unwinder *unwinder_new(void)
{
	return calloc(1, sizeof(struct unwinder));
}

static void forget(struct unwinder *u)
{
	if (u->dwfl)
		dwfl_end(u->dwfl);
	u->dwfl = NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	forget(u);
	free(u);
}

static pid_t next_thread(Dwfl *d, void *arg, void **thread)
{
	struct unwinder *u = arg;

	if (*thread)
		return 0;
	*thread = u;
	return u->pid;
}

static bool get_thread(Dwfl *d, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

static bool read_memory(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *out, void *arg)
{
	const struct unwinder *u = arg;

	return stack_word(u->stack, addr, out);
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
	const struct unwinder *u = arg;

	return dwfl_thread_state_registers(t, 0, REGS_DWARF_COUNT, u->stack->reg);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Unchanged modules are kept with all data read from them. */
static int list_modules(struct unwinder *u, struct err *e)
{
	int rc;

	dwfl_report_begin(u->dwfl);
	rc = dwfl_linux_proc_report(u->dwfl, u->pid);
	if (dwfl_report_end(u->dwfl, NULL, NULL) || rc)
		return err_set(e, ERR_SYS, "the modules of process %d cannot be listed",
			       (int)u->pid);
	return 0;
}

static int turn_to(struct unwinder *u, int32_t pid, uint64_t start, struct err *e)
{
	bool is_new = !u->dwfl || u->pid != pid || u->start != start;
	int rc;

	if (is_new) {
		forget(u);
		u->dwfl = dwfl_begin(&callbacks);
		u->pid = pid;
		u->start = start;
	}
	if (!u->dwfl)
		return err_nomem(e);
	rc = list_modules(u, e);
	if (!rc && is_new && !dwfl_attach_state(u->dwfl, NULL, pid, &thread_callbacks, u))
		rc = err_set(e, ERR_SYS, "the stack of process %d cannot be read: %s", (int)pid,
			     dwfl_errmsg(-1));
	if (rc)
		forget(u);
	return rc;
}

static int on_frame(Dwfl_Frame *f, void *arg)
{
	struct unwinder *u = arg;
	struct frame *to = &u->frame[u->n];
	bool is_exact = false;
	Dwarf_Word sp = 0;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(f, &pc, &is_exact))
		return DWARF_CB_ABORT;
	if (dwfl_frame_reg(f, REGS_DWARF_SP, &sp))
		sp = 0;
	*to = (struct frame){ .pc = pc, .fp = sp, .module = "", .symbol = "", .file = "" };
	/* A return address may belong to the next function: it is looked up one byte before. */
	to->offset = is_exact ? 0 : 1;
	u->n++;
	return u->n < u->max ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* For an inlined function, the line in that function. */
static void locate(Dwfl_Module *m, uint64_t pc, struct frame *f)
{
	Dwfl_Line *l = dwfl_module_getsrc(m, pc);
	int line = 0;
	const char *file = l ? dwfl_lineinfo(l, NULL, &line, NULL, NULL, NULL) : NULL;

	if (!file || line <= 0)
		return;
	f->file = file;
	f->line = (uint64_t)line;
}

static void name(struct unwinder *u, struct frame *f)
{
	uint64_t back = f->offset;
	Dwfl_Module *m = dwfl_addrmodule(u->dwfl, f->pc - back);
	const char *file = NULL, *symbol = NULL;
	GElf_Off offset = 0;
	GElf_Sym sym;

	f->offset = 0;
	if (!m)
		return;
	symbol = dwfl_module_addrinfo(m, f->pc - back, &offset, &sym, NULL, NULL, NULL);
	file = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	f->module = file ? file : "";
	locate(m, f->pc - back, f);
	if (!symbol)
		return;
	f->symbol = symbol;
	f->offset = offset + back;
}

int unwinder_run(struct unwinder *u, uint64_t start, const struct stack *s, struct frames *inout,
		 struct err *e)
{
	int rc = turn_to(u, s->pid, start, e);

	if (rc)
		return rc;
	u->stack = s;
	u->frame = inout->v;
	u->n = 0;
	u->max = inout->n;
	/* Ends with an error where the tables end: the frames found so far are the answer. */
	dwfl_getthread_frames(u->dwfl, s->pid, on_frame, u);
	if (!u->n) {
		inout->v[0] = (struct frame){ .pc = s->reg[REGS_DWARF_COUNT - 1],
					      .fp = s->reg[REGS_DWARF_SP],
					      .module = "",
					      .symbol = "",
					      .file = "" };
		u->n = 1;
	}
	for (size_t i = 0; i < u->n; i++)
		if (inout->has_names)
			name(u, &inout->v[i]);
		else
			inout->v[i].offset = 0;
	inout->n = u->n;
	return 0;
}
