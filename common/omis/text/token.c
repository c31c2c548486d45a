/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/token.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 6 /* 30 bits in base32 */

static const struct {
	enum token_kind kind;
	const char *prefix;
	bool has_id;
} forms[] = {
	{ TOKEN_SITE, "s_", false },
	{ TOKEN_NODE, "n_", false },
	{ TOKEN_PROCESS, "p_", true },
	{ TOKEN_THREAD, "t_", true },
	{ TOKEN_CSR, "c_", false },
	{ TOKEN_EVENT, "e_", false },
	{ TOKEN_COUNTER_LOCAL, "pa_cl_", false },
	{ TOKEN_COUNTER_GLOBAL, "pa_c_", false },
	{ TOKEN_INTEGRATOR_LOCAL, "pa_il_", false },
	{ TOKEN_INTEGRATOR_GLOBAL, "pa_i_", false },
	{ TOKEN_TRACE_BUFFER, "trace_b_", false },
	{ TOKEN_MEASUREMENT, "d_", false },
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool token_is_valid(const char *p, size_t n)
{
	const char *prefix_end = memchr(p, '_', n);

	if (!prefix_end || prefix_end == p || prefix_end == p + n - 1 || n > NAME_MAX_BYTES)
		return false;
	if (p[0] >= '0' && p[0] <= '9')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_word_char(p[i]))
			return false;
	return true;
}

char token_class(const char *p, size_t n)
{
	if (!token_is_valid(p, n))
		return 0;
	if (n > 3 && !memcmp(p, "pa_", 3))
		return 'a';
	if (n > 8 && !memcmp(p, "trace_b_", 8))
		return 'a';
	return p[1] == '_' && strchr("snptcdeqmu", p[0]) ? p[0] : 0;
}

/* Parses a decimal number without leading zeros, up to `end`. */
static bool parse_number(const char *s, const char *end, uint64_t *out)
{
	char digits[24];
	size_t n = (size_t)(end - s);

	if (!n || n >= sizeof(digits) || (n > 1 && *s == '0'))
		return false;
	memcpy(digits, s, n);
	digits[n] = '\0';
	return !str_to_u64(digits, 0, UINT64_MAX, out);
}

/* Accepts only the form that print_id() writes. */
static bool parse_id(const char *s, const char *end, uint32_t *out)
{
	static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

	if (end - s != ID_DIGITS)
		return false;
	*out = 0;
	for (; s < end; s++) {
		const char *at = *s ? strchr(alphabet, *s) : NULL;

		if (!at)
			return false;
		*out = *out << 5 | (uint32_t)(at - alphabet);
	}
	return true;
}

static bool parse_form(const char *s, const char *end, bool has_id, struct token_parts *out)
{
	const char *number_end = has_id ? memchr(s, '_', (size_t)(end - s)) : end;

	if (!number_end || !parse_number(s, number_end, &out->number))
		return false;
	if (!has_id)
		return true;
	return out->number <= UINT32_MAX && parse_id(number_end + 1, end, &out->id);
}

int token_parse(const char *p, size_t n, struct token_parts *out)
{
	struct token_parts parts;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		size_t len = strlen(forms[i].prefix);

		parts = (struct token_parts){ .kind = forms[i].kind };
		if (n > len && !memcmp(p, forms[i].prefix, len) &&
		    parse_form(p + len, p + n, forms[i].has_id, &parts)) {
			*out = parts;
			return 0;
		}
	}
	return -ERR_INVALID;
}

char token_measure(const char *p, size_t n)
{
	struct token_parts parts;

	if (token_parse(p, n, &parts))
		return 0;
	switch (parts.kind) {
	case TOKEN_COUNTER_LOCAL:
	case TOKEN_COUNTER_GLOBAL:
		return 'k';
	case TOKEN_INTEGRATOR_LOCAL:
	case TOKEN_INTEGRATOR_GLOBAL:
		return 'i';
	case TOKEN_TRACE_BUFFER:
		return 'b';
	default:
		return 0;
	}
}

static void print_id(char out[ID_DIGITS + 1], uint32_t id)
{
	for (int i = ID_DIGITS - 1; i >= 0; i--, id >>= 5)
		out[i] = "0123456789abcdefghjkmnpqrstvwxyz"[id & 31];
	out[ID_DIGITS] = '\0';
}

const char *token_print(struct token *out, const struct token_parts *parts)
{
	char id[ID_DIGITS + 1];

	out->s[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (forms[i].kind != parts->kind)
			continue;
		print_id(id, parts->id);
		snprintf(out->s, sizeof(out->s), "%s%" PRIu64 "%s%s", forms[i].prefix,
			 parts->number, forms[i].has_id ? "_" : "", forms[i].has_id ? id : "");
	}
	return out->s;
}

const char *token_print_number(struct token *out, enum token_kind kind, uint64_t number)
{
	return token_print(out, &(struct token_parts){ .kind = kind, .number = number });
}

const char *token_print_process(struct token *out, uint32_t node, uint32_t id)
{
	return token_print(
		out, &(struct token_parts){ .kind = TOKEN_PROCESS, .number = node, .id = id });
}

const char *token_print_thread(struct token *out, uint32_t node, uint32_t id)
{
	return token_print(out,
			   &(struct token_parts){ .kind = TOKEN_THREAD, .number = node, .id = id });
}

bool token_node(const char *p, size_t n, uint32_t *node)
{
	struct token_parts parts;

	if (token_parse(p, n, &parts) || parts.number > UINT32_MAX)
		return false;
	if (parts.kind != TOKEN_NODE && parts.kind != TOKEN_PROCESS && parts.kind != TOKEN_THREAD)
		return false;
	*node = (uint32_t)parts.number;
	return true;
}

static const char containment[] = "snpt";

static int depth(char c)
{
	const char *at = c ? strchr(containment, c) : NULL;

	return at ? (int)(at - containment) : -1;
}

int token_compare_class(char a, char b, bool *related)
{
	*related = depth(a) >= 0 && depth(b) >= 0;
	return *related ? depth(a) - depth(b) : 0;
}

char token_class_below(char c)
{
	return depth(c) < 0 ? 0 : containment[depth(c) + 1];
}
