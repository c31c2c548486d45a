/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/decode.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

#define INT3_OPCODE 0xcc /* fills gaps between functions */

/* A direct jump or call, or one through memory at a fixed place. */
static uint8_t kind_of_branch(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
			      struct decoded *d)
{
	bool is_call = in->meta.category == ZYDIS_CATEGORY_CALL;

	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) {
		d->to = d->at + d->n + (uint64_t)op->imm.value.s;
		/* loop and jrcxz have no longer form, xbegin is not a jump. */
		d->is_short = in->meta.category == ZYDIS_CATEGORY_COND_BR &&
			      in->opcode >> 4 != (in->raw.imm[0].size == 8 ? 7 : 8);
		d->condition = in->opcode & 15;
		if (is_call)
			return DECODED_CALL;
		return in->meta.category == ZYDIS_CATEGORY_COND_BR ? DECODED_BRANCH : DECODED_JUMP;
	}
	if (is_call)
		return DECODED_CALL;
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP
		       ? DECODED_JUMP_FAR
		       : DECODED_TABLE;
}

static bool is_trap(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_UD0 || m == ZYDIS_MNEMONIC_UD1 || m == ZYDIS_MNEMONIC_UD2 ||
	       m == ZYDIS_MNEMONIC_HLT || m == ZYDIS_MNEMONIC_INT3 || m == ZYDIS_MNEMONIC_XABORT;
}

static uint8_t kind_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
		       struct decoded *d)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return in->mnemonic == ZYDIS_MNEMONIC_NOP ? DECODED_NOP : DECODED_PLAIN;
	case ZYDIS_CATEGORY_RET:
		return DECODED_RETURN;
	case ZYDIS_CATEGORY_INTERRUPT:
		return DECODED_TRAP;
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return kind_of_branch(in, op, d);
	default:
		return is_trap(in->mnemonic) ? DECODED_TRAP : DECODED_PLAIN;
	}
}

static int decode_one(const ZydisDecoder *z, const struct function_part *p, size_t at,
		      struct decoded *d, struct err *e)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	size_t left = p->n + p->padding - at;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(z, p->bytes + at, left, &in, op)) ||
	    (at < p->n && at + in.length > p->n))
		return err_set(e, ERR_UNSUPPORTED, "an unknown instruction at +0x%zx", at);
	*d = (struct decoded){ .at = p->at + at, .n = in.length, .bytes = p->bytes + at };
	d->kind = kind_of(&in, op, d);
	if (in.attributes & ZYDIS_ATTRIB_IS_RELATIVE && in.raw.disp.size)
		d->disp_at = in.raw.disp.offset;
	if (in.attributes & ZYDIS_ATTRIB_IS_RELATIVE && in.raw.disp.size && in.raw.disp.size != 32)
		return err_set(e, ERR_UNSUPPORTED, "an unknown instruction at +0x%zx", at);
	if (in.attributes & ZYDIS_ATTRIB_IS_RELATIVE && !in.raw.disp.size && d->kind <= DECODED_NOP)
		return err_set(e, ERR_UNSUPPORTED, "an unknown jump at +0x%zx", at);
	return 0;
}

/* Instructions of a part are in order. */
static struct decoded *find(struct decoded_code *c, unsigned part, uint64_t at)
{
	size_t from = part ? c->first_of_last : 0, to = part ? c->n : c->first_of_last;

	while (from < to) {
		size_t i = (from + to) / 2;

		if (c->v[i].at == at)
			return &c->v[i];
		if (c->v[i].at < at)
			from = i + 1;
		else
			to = i;
	}
	return NULL;
}

/* Marks where jumps inside of the function lead to. */
static int mark_targets(const struct function_code *f, struct decoded_code *c, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		struct decoded *d = &c->v[i], *to;
		int part;

		if (d->kind != DECODED_JUMP && d->kind != DECODED_BRANCH && d->kind != DECODED_CALL)
			continue;
		part = d->to ? function_code_part(f, d->to) : -1;
		if (part < 0)
			continue;
		if (d->kind == DECODED_CALL && d->to == f->part[0].at)
			continue;
		to = find(c, (unsigned)part, d->to);
		if (!to)
			return err_set(e, ERR_UNSUPPORTED,
				       "a jump into the middle of an instruction at +0x%llx",
				       (unsigned long long)(d->at - f->part[d->part].at));
		to->is_target = true;
	}
	return 0;
}

static int decode_a_part(const ZydisDecoder *z, const struct function_part *p, unsigned number,
			 struct decoded_code *c, struct err *e)
{
	size_t at = 0;

	for (; at < p->n; at += c->v[c->n++].n) {
		int rc = decode_one(z, p, at, &c->v[c->n], e);

		if (rc)
			return rc;
		c->v[c->n].part = (uint8_t)number;
	}
	for (; at < p->n + p->padding; at += c->v[c->n++].n) {
		struct decoded *d = &c->v[c->n];

		if (decode_one(z, p, at, d, NULL) ||
		    (d->kind != DECODED_NOP && d->bytes[0] != INT3_OPCODE))
			break;
		d->kind = DECODED_NOP;
		d->part = (uint8_t)number;
	}
	return 0;
}

/* Code that cannot be decoded, as data between functions, ends the search. */
void decode_led(const struct file_code *other, struct function_code *c)
{
	ZydisDecoder z;
	ZydisDecodedInstruction in;
	size_t at = 0;

	if (ZYAN_FAILED(ZydisDecoderInit(&z, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return;
	while (at < other->n && !ZYAN_FAILED(ZydisDecoderDecodeInstruction(
					&z, NULL, other->bytes + at, other->n - at, &in))) {
		at += in.length;
		if (in.raw.imm[0].is_relative) {
			uint64_t to = other->at + at + (uint64_t)in.raw.imm[0].value.s;

			if (function_code_part(c, to) >= 0)
				function_code_led(c, to);
		}
	}
}

static int decode_all(const struct function_code *f, struct decoded_code *c, struct err *e)
{
	ZydisDecoder z;

	if (ZYAN_FAILED(ZydisDecoderInit(&z, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return err_set(e, ERR_INTERNAL, "the decoder of instructions does not start");
	for (unsigned p = 0; p < FUNCTION_PARTS; p++) {
		int rc;

		c->first_of_last = c->n;
		rc = decode_a_part(&z, &f->part[p], p, c, e);
		if (rc)
			return rc;
	}
	return mark_targets(f, c, e);
}

int decode(const struct function_code *f, struct decoded_code **out, struct err *e)
{
	size_t n = f->part[0].n + f->part[1].n + 2 * (FUNCTION_PADDING_BYTES + 1);
	struct decoded_code *c = calloc(1, sizeof(*c) + n * sizeof(c->v[0]));
	int rc = c ? decode_all(f, c, e) : err_nomem(e);

	if (rc) {
		free(c);
		return rc;
	}
	*out = c;
	return 0;
}
