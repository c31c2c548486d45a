/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FORTRAN_MAX_BYTES 256 /* two names of 63, and what compilers add */

const char *name_mark(const char *symbol, const char *function)
{
	size_t n = strlen(function);

	return !strncmp(symbol, function, n) && symbol[n] == '.' ? symbol + n : NULL;
}

bool name_is_cold(const char *symbol)
{
	const char *cold = strstr(symbol, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

static bool is_text(const char *name, const char *begin, const char *end)
{
	size_t n = (size_t)(end - begin);

	return strlen(name) == n && !strncmp(name, begin, n);
}

/* Returns the end without the arguments of a template. */
static const char *without_arguments(const char *begin, const char *end)
{
	int depth = 0;

	for (const char *at = end; at > begin && (at == end ? at[-1] == '>' : depth > 0); at--) {
		depth += at[-1] == '>';
		depth -= at[-1] == '<';
		if (!depth)
			return at - 1;
	}
	return end;
}

/* Compares the name with the demangled one without return type, parameters and clone mark. */
static bool is_base(const char *name, const char *plain)
{
	const char *begin = plain, *at = plain;
	int depth = 0;

	for (; *at && !(*at == '(' && !depth && strncmp(at, "(anonymous", 10)); at++) {
		if (!strncmp(at, "(anonymous namespace)", 21)) {
			at += 20;
			continue;
		}
		depth += *at == '<' || *at == '(';
		depth -= *at == '>' || *at == ')';
		if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return is_text(name, begin, at) || is_text(name, begin, without_arguments(begin, at));
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

/* Names of Fortran have no case. */
static bool is_fortran(const char *name, const char *symbol)
{
	const char *colons = strstr(name, "::");
	char want[FORTRAN_MAX_BYTES];
	int n = colons ? snprintf(want, sizeof(want), "__%.*s_mod_%s", (int)(colons - name), name,
				  colons + 2)
		       : snprintf(want, sizeof(want), "%s_", name);

	if (n <= 0 || n >= (int)sizeof(want))
		return false;
	lower(want);
	if (!colons)
		return !strcmp(want, symbol);
	for (int i = 0; i < n || symbol[i]; i++)
		if (tolower((unsigned char)symbol[i]) != want[i])
			return false;
	return true;
}

enum name_fit name_fits(const char *name, const char *symbol, const char *plain)
{
	if (!strcmp(name, symbol) || (plain && !strcmp(name, plain)))
		return NAME_IS_SAME;
	if (name_is_cold(symbol))
		return NAME_DIFFERS;
	if (plain && is_base(name, plain))
		return NAME_FITS;
	if (name_mark(symbol, name))
		return NAME_FITS;
	return is_fortran(name, symbol) ? NAME_FITS : NAME_DIFFERS;
}
