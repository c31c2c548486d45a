/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. No vector registers: see module.mk. */
#include "libapp/setup/function.h"

#include "libapp/hot/meter.h"

uint32_t function_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));
uint32_t function_save_bytes;
function_slow_fn *function_slow;

/* Of one function in one thread; private to it. Another id or tid makes it invalid. */
static struct function_state {
	uintptr_t frame; /* of the outermost call under way; 0: none that was seen */
	uint32_t id, tid;
} state[SEG_THREADS_MAX][SEG_FUNCTIONS];

static struct function_state *state_of(const struct hook_thread *t, uint32_t id)
{
	struct function_state *s = &state[t->index][SEG_FUNCTION_SLOT(id)];

	if (s->id != id || s->tid != t->tid) {
		s->frame = 0;
		s->id = id;
		s->tid = t->tid;
	}
	return s;
}

enum function_pass function_passes(const struct hook_thread *t, uint32_t id, uintptr_t frame,
				   bool is_exit)
{
	struct function_state *s = state_of(t, id);
	uintptr_t outer = s->frame;

	if (outer && frame < outer)
		return is_exit ? FUNCTION_NOTHING : FUNCTION_AGAIN;
	s->frame = is_exit ? 0 : frame;
	return outer && !is_exit ? FUNCTION_LEFT : FUNCTION_EDGE;
}

/* As probe_hit(), for meters alone. */
static void pass(struct hook_thread *t, uint32_t id, uintptr_t frame, bool is_exit)
{
	unsigned begin = SEG_FUNCTION_BEGIN(SEG_FUNCTION_SLOT(id));
	uint64_t now;
	enum function_pass is;

	hook_set_record(t->now, hook_frame());
	is = function_passes(t, id, frame, is_exit);
	now = ticks_now(TICKS_TSC);
	if (is == FUNCTION_LEFT)
		meter_probe(t, begin + 1, now, false);
	if (is != FUNCTION_NOTHING)
		meter_probe(t, begin + is_exit, now, is == FUNCTION_AGAIN);
	hook_set_frame(t->now, 0);
}

HOOK_INLINE bool meet(uint32_t id, uintptr_t frame, bool is_exit)
{
	struct hook_thread *t = &hook_thread;
	uint32_t word = __atomic_load_n(&function_word[2 * SEG_FUNCTION_SLOT(id) + is_exit],
					__ATOMIC_RELAXED);

	if (!word)
		return false;
	if (__builtin_expect(!t->slots || t->now->frame || word != PROBE_EDGE ||
				     app_state.ticks != TICKS_TSC,
			     0))
		return true;
	pass(t, id, frame, is_exit);
	return false;
}

bool function_enter(uint32_t id, uintptr_t frame)
{
	return meet(id, frame, false);
}

bool function_exit(uint32_t id, uintptr_t frame)
{
	return meet(id, frame, true);
}

#if defined(__x86_64__)

/*
 * The call frame information leads from here to the caller of the function, past the code that
 * lm-trace has written. Tiles (bits 17 and 18) are left alone. The header of the saved state must
 * be 0.
 */
/* clang-format off */
#define CODE(name, function, is_exit)                                   \
	__asm__(".text\n"                                               \
		".p2align 4\n"                                          \
		".globl " #name "\n"                                    \
		".hidden " #name "\n"                                   \
		".type " #name ", @function\n"                          \
		#name ":\n"                                             \
		".cfi_startproc\n"                                      \
		".cfi_def_cfa rsp, 24\n"                                \
		"push %rbx\n"                                           \
		".cfi_def_cfa_offset 32\n"                              \
		".cfi_offset rbx, -32\n"                                \
		"push %rax\n"                                           \
		"lahf\n"                                                \
		"seto %al\n"                                            \
		"push %rax\n"                                           \
		"push %rcx\n"                                           \
		"push %rdx\n"                                           \
		"push %rsi\n"                                           \
		"push %rdi\n"                                           \
		"push %r8\n"                                            \
		"push %r9\n"                                            \
		"push %r10\n"                                           \
		"push %r11\n"                                           \
		"mov %rsp, %rbx\n"                                      \
		".cfi_def_cfa rbx, 112\n"                               \
		"mov 96(%rbx), %edi\n"                                  \
		"lea 104(%rbx), %rsi\n"                                 \
		"and $-16, %rsp\n"                                      \
		"call " #function "\n"                                  \
		"test %al, %al\n"                                       \
		"jne 2f\n"                                              \
		"1:\n"                                                  \
		"mov %rbx, %rsp\n"                                      \
		".cfi_def_cfa rsp, 112\n"                               \
		"pop %r11\n"                                            \
		"pop %r10\n"                                            \
		"pop %r9\n"                                             \
		"pop %r8\n"                                             \
		"pop %rdi\n"                                            \
		"pop %rsi\n"                                            \
		"pop %rdx\n"                                            \
		"pop %rcx\n"                                            \
		"pop %rax\n"                                            \
		"add $127, %al\n"                                       \
		"sahf\n"                                                \
		"pop %rax\n"                                            \
		".cfi_def_cfa_offset 32\n"                              \
		"pop %rbx\n"                                            \
		".cfi_def_cfa_offset 24\n"                              \
		".cfi_restore rbx\n"                                    \
		"ret\n"                                                 \
		".cfi_def_cfa rbx, 112\n"                               \
		".cfi_offset rbx, -32\n"                                \
		"2:\n"                                                  \
		"mov function_save_bytes(%rip), %ecx\n"                 \
		"sub %rcx, %rsp\n"                                      \
		"and $-64, %rsp\n"                                      \
		"xor %eax, %eax\n"                                      \
		"mov %rax, 512(%rsp)\n"                                 \
		"mov %rax, 520(%rsp)\n"                                 \
		"mov %rax, 528(%rsp)\n"                                 \
		"mov %rax, 536(%rsp)\n"                                 \
		"mov %rax, 544(%rsp)\n"                                 \
		"mov %rax, 552(%rsp)\n"                                 \
		"mov %rax, 560(%rsp)\n"                                 \
		"mov %rax, 568(%rsp)\n"                                 \
		"mov $0xfff9ffff, %eax\n"                               \
		"mov $0xffffffff, %edx\n"                               \
		"xsave64 (%rsp)\n"                                      \
		"mov 96(%rbx), %edi\n"                                  \
		"lea 104(%rbx), %rsi\n"                                 \
		"mov $" #is_exit ", %edx\n"                             \
		"call *function_slow(%rip)\n"                           \
		"mov $0xfff9ffff, %eax\n"                               \
		"mov $0xffffffff, %edx\n"                               \
		"xrstor64 (%rsp)\n"                                     \
		"jmp 1b\n"                                              \
		".cfi_endproc\n"                                        \
		".size " #name ", .-" #name "\n")

CODE(function_enter_code, function_enter, 0);
CODE(function_exit_code, function_exit, 1);
/* clang-format on */

#endif
