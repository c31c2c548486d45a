/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/gate/code.h"

#include <string.h>

#define JUMP_BYTES 6 /* jmp *target(%rip) */
#define PUSH_BYTES 5 /* push $name */

uint64_t code_entry(uint64_t base, unsigned name)
{
	return base + GATE_ENTRIES_AT + (uint64_t)name * GATE_ENTRY_BYTES;
}

uint64_t code_loader(uint64_t base, unsigned name)
{
	return code_entry(base, name) + JUMP_BYTES;
}

#if defined(__x86_64__)

#define STRING_(x) #x
#define STRING(x) STRING_(x)

/* Places in struct gate, as the assembler needs them. */
#define AT_STATE 0
#define AT_DLOPEN 16
#define AT_DLSYM 24
#define AT_ERRNO 32
#define AT_HANDLE 40
#define AT_DLERROR 48
#define AT_ENTER 56
#define AT_LIBRARY 88
#define AT_TARGET 1112
#define AT_ORIGINAL 33880
#define AT_WHY 68968

_Static_assert(offsetof(struct gate, state) == AT_STATE, "of the code below");
_Static_assert(offsetof(struct gate, dlopen) == AT_DLOPEN, "of the code below");
_Static_assert(offsetof(struct gate, dlsym) == AT_DLSYM, "of the code below");
_Static_assert(offsetof(struct gate, errno_location) == AT_ERRNO, "of the code below");
_Static_assert(offsetof(struct gate, handle) == AT_HANDLE, "of the code below");
_Static_assert(offsetof(struct gate, dlerror) == AT_DLERROR, "of the code below");
_Static_assert(offsetof(struct gate, enter) == AT_ENTER, "of the code below");
_Static_assert(offsetof(struct gate, library) == AT_LIBRARY, "of the code below");
_Static_assert(offsetof(struct gate, target) == AT_TARGET, "of the code below");
_Static_assert(offsetof(struct gate, original) == AT_ORIGINAL, "of the code below");
_Static_assert(offsetof(struct gate, why) == AT_WHY && GATE_WORD_BYTES == 256, "of the code below");
_Static_assert(GATE_ARMED == 0 && GATE_ENTERING == 1 && GATE_FAILED == 3, "of the code below");
_Static_assert(GATE_CODE_BYTES == 131072, "of the code below");

/* clang-format off */
/*
 * The way in. On the stack: the name's number, then the caller's return address. All registers that
 * arguments may be in are preserved. Of several threads one loads libomig, the others call MPI
 * meanwhile. The call continues at its target, or where that is still the loader, at the original.
 */
__asm__(
	".pushsection .rodata.gate, \"a\", @progbits\n"
	"gate_way_in:\n"
	"	push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9\n"
	"	push %r10; push %rbx; push %r12; push %r13\n"
	"	sub $136, %rsp\n"
	"	movups %xmm0, (%rsp); movups %xmm1, 16(%rsp)\n"
	"	movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
	"	movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp)\n"
	"	movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
	"	lea gate_way_in+131072(%rip), %rbx\n"
	"	xor %eax, %eax; mov $1, %ecx\n" /* from pending to entering */
	"	lock cmpxchg %ecx, " STRING(AT_STATE) "(%rbx)\n"
	"	jne 3f\n"
	"	call *" STRING(AT_ERRNO) "(%rbx)\n"
	"	mov %rax, %r12; mov (%rax), %r13d\n"
	"	lea " STRING(AT_LIBRARY) "(%rbx), %rdi; mov $2, %esi\n" /* RTLD_NOW */
	"	call *" STRING(AT_DLOPEN) "(%rbx)\n"
	"	test %rax, %rax; je 1f\n"
	"	mov %rax, " STRING(AT_HANDLE) "(%rbx)\n"
	"	mov %rax, %rdi; lea " STRING(AT_ENTER) "(%rbx), %rsi\n"
	"	call *" STRING(AT_DLSYM) "(%rbx)\n"
	"	test %rax, %rax; je 1f\n"
	"	mov %rbx, %rdi; call *%rax\n"
	"	jmp 2f\n"
	"1:	mov " STRING(AT_DLERROR) "(%rbx), %rax; test %rax, %rax; je 6f\n"
	"	call *%rax; test %rax, %rax; je 6f\n"
	"	lea " STRING(AT_WHY) "(%rbx), %rdi; mov $255, %ecx\n"
	"5:	mov (%rax), %dl; mov %dl, (%rdi); test %dl, %dl; je 6f\n"
	"	inc %rax; inc %rdi; dec %ecx; jne 5b\n"
	"	movb $0, (%rdi)\n"
	"6:	movl $3, " STRING(AT_STATE) "(%rbx)\n" /* failed */
	"2:	mov %r13d, (%r12)\n"
	"3:	mov 224(%rsp), %eax\n"
	"	mov " STRING(AT_TARGET) "(%rbx,%rax,8), %r11\n"
	"	lea gate_way_in(%rip), %rdx; mov %r11, %rcx; sub %rdx, %rcx\n"
	"	cmp $131072, %rcx; jae 4f\n"
	"	mov " STRING(AT_ORIGINAL) "(%rbx,%rax,8), %r11\n"
	"4:	movups (%rsp), %xmm0; movups 16(%rsp), %xmm1\n"
	"	movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
	"	movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5\n"
	"	movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
	"	add $136, %rsp\n"
	"	pop %r13; pop %r12; pop %rbx; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi\n"
	"	pop %rdx; pop %rcx; pop %rax\n"
	"	add $8, %rsp\n"
	"	jmp *%r11\n"
	"gate_way_in_end:\n"
	".popsection\n");
/* clang-format on */
extern const uint8_t gate_way_in[], gate_way_in_end[];

static void put_i32(uint8_t *out, int64_t v)
{
	int32_t small = (int32_t)v;

	memcpy(out, &small, sizeof(small));
}

/* jmp *target(%rip); push $name; jmp way_in */
static void write_entry(uint8_t *code, unsigned name)
{
	int64_t at = (int64_t)code_entry(0, name);
	uint8_t *p = code + at;

	p[0] = 0xff;
	p[1] = 0x25;
	put_i32(p + 2, GATE_CODE_BYTES + AT_TARGET + 8 * (int64_t)name - at - JUMP_BYTES);
	p[JUMP_BYTES] = 0x68;
	put_i32(p + JUMP_BYTES + 1, name);
	p[JUMP_BYTES + PUSH_BYTES] = 0xe9;
	put_i32(p + JUMP_BYTES + PUSH_BYTES + 1, -at - GATE_ENTRY_BYTES);
}

int code_write(uint8_t *out, unsigned nname, size_t *used, struct err *e)
{
	memset(out, 0, GATE_CODE_BYTES);
	memcpy(out, gate_way_in, (size_t)(gate_way_in_end - gate_way_in));
	for (unsigned i = 0; i < nname; i++)
		write_entry(out, i);
	*used = (size_t)code_entry(0, nname);
	return 0;
}

#else

int code_write(uint8_t *out, unsigned nname, size_t *used, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "programs are entered on x86-64 only");
}

#endif
