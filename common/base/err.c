/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ERR_NCODES] = {
	[ERR_OK] = "OK",
	[ERR_NOMEM] = "NOMEM",
	[ERR_SYS] = "SYS",
	[ERR_PARSE] = "PARSE",
	[ERR_PROTO] = "PROTO",
	[ERR_LIMIT] = "LIMIT",
	[ERR_DENIED] = "DENIED",
	[ERR_NOTFOUND] = "NOTFOUND",
	[ERR_EXISTS] = "EXISTS",
	[ERR_AGAIN] = "AGAIN",
	[ERR_CLOSED] = "CLOSED",
	[ERR_TIMEOUT] = "TIMEOUT",
	[ERR_UNSUPPORTED] = "UNSUPPORTED",
	[ERR_INVALID] = "INVALID",
	[ERR_INTERNAL] = "INTERNAL",
};

/* Longer than usual words. A longer word, such as a path, is cut. */
#define WORD_MAX_BYTES 32
#define CUT_MARK "..."

static void cut_text(struct err *e, const char *all)
{
	size_t n, word;

	if (str_copy(e->text, sizeof(e->text), all))
		return;
	str_copy(e->text, sizeof(e->text) - strlen(CUT_MARK), all);
	n = strlen(e->text);
	for (word = n; word > 0 && n - word < WORD_MAX_BYTES && all[word] != ' ';)
		word--;
	if (word > 0 && all[word] == ' ')
		n = word;
	memcpy(e->text + n, CUT_MARK, sizeof(CUT_MARK));
}

/* Formats in a separate buffer, because arguments may point into e->text. */
static void __attribute__((format(printf, 2, 0)))
set_text(struct err *e, const char *fmt, va_list ap)
{
	char scratch[4 * ERR_TEXT_BYTES];

	if (vsnprintf(scratch, sizeof(scratch), fmt, ap) < 0)
		scratch[0] = '\0';
	cut_text(e, scratch);
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		set_text(e, fmt, ap);
		va_end(ap);
		e->code = code;
		e->sys = 0;
		e->line = e->col = 0;
	}
	errno = saved;
	return -(int)code;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	char all[2 * ERR_TEXT_BYTES + 2];
	int saved = errno;
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		set_text(e, fmt, ap);
		va_end(ap);
		snprintf(all, sizeof(all), "%s: %s", e->text,
			 strerror_r(saved, (char[64]){ 0 }, 64));
		cut_text(e, all);
		e->code = ERR_SYS;
		e->sys = saved;
		e->line = e->col = 0;
	}
	errno = saved;
	return -ERR_SYS;
}

int err_nomem(struct err *e)
{
	return err_set(e, ERR_NOMEM, "out of memory");
}

int err_add(struct err *e, const char *fmt, ...)
{
	char all[2 * ERR_TEXT_BYTES + 2];
	struct err front;
	int saved = errno;
	va_list ap;

	if (!e)
		return -ERR_INTERNAL;
	va_start(ap, fmt);
	set_text(&front, fmt, ap);
	va_end(ap);
	snprintf(all, sizeof(all), "%s: %s", front.text, e->text);
	cut_text(e, all);
	errno = saved;
	return -(int)e->code;
}

int err_at(struct err *e, unsigned line, unsigned col)
{
	if (!e)
		return -ERR_INTERNAL;
	e->line = line;
	e->col = col;
	return -(int)e->code;
}

const char *err_name(int code)
{
	unsigned i = code < 0 ? 0u - (unsigned)code : (unsigned)code;

	return i < ARRAY_LEN(names) ? names[i] : "UNKNOWN";
}
