/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/term.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* State that term_restore() restores. There is one terminal. */
static struct termios saved;
static volatile sig_atomic_t is_changed;

static bool wants_color(bool is_tty)
{
	const char *force = getenv("CLICOLOR_FORCE"), *no = getenv("NO_COLOR"),
		   *term = getenv("TERM");

	if (no && *no)
		return false;
	if (force && *force && !str_eq(force, "0"))
		return true;
	return is_tty && term && !str_eq(term, "dumb");
}

bool term_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

void term_to_locale(struct buf *b)
{
	static const struct {
		const char *sign;
		char ascii;
	} signs[] = { { "\xe2\x86\x92", '>' }, { "\xc2\xb5", 'u' } };
	size_t n = 0;

	if (term_is_utf8())
		return;
	for (size_t i = 0; i < b->n;) {
		size_t len = 0;

		for (size_t k = 0; k < ARRAY_LEN(signs) && !len; k++) {
			size_t of = strlen(signs[k].sign);

			if (b->n - i < of || memcmp(b->p + i, signs[k].sign, of))
				continue;
			b->p[n++] = (unsigned char)signs[k].ascii;
			len = of;
		}
		if (!len)
			b->p[n++] = b->p[i];
		i += len ? len : 1;
	}
	b->n = n;
}

int term_open(struct term *t, const char *when)
{
	memset(t, 0, sizeof(*t));
	t->is_tty = isatty(STDOUT_FILENO);
	t->is_utf8 = term_is_utf8();
	term_measure(t);
	if (str_eq(when, "always"))
		t->has_color = true;
	else if (str_eq(when, "auto"))
		t->has_color = wants_color(t->is_tty);
	else if (!str_eq(when, "never"))
		return -ERR_INVALID;
	return 0;
}

const char *term_paint(const struct term *t, enum term_paint p)
{
	static const char *const code[] = {
		[TERM_PLAIN] = "\033[0m",   [TERM_BOLD] = "\033[1m",	[TERM_DIM] = "\033[2m",
		[TERM_RED] = "\033[31m",    [TERM_YELLOW] = "\033[33m", [TERM_GREEN] = "\033[32m",
		[TERM_REVERSE] = "\033[7m",
	};

	return t->has_color ? code[p] : "";
}

void term_measure(struct term *t)
{
	struct winsize w;

	t->rows = 24;
	t->cols = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0) {
		t->rows = w.ws_row;
		t->cols = w.ws_col;
	}
}

static void write_all(const char *s)
{
	ssize_t n = write(STDOUT_FILENO, s, strlen(s));

	(void)n; /* a closed terminal needs no restoring */
}

void term_raw(struct term *t)
{
	struct termios raw;

	if (!t->is_tty || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved) < 0)
		return;
	raw = saved;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0)
		return;
	is_changed = 1;
	t->is_raw = true;
	write_all("\033[?1049h\033[?25l");
}

void term_restore(void)
{
	if (!is_changed)
		return;
	is_changed = 0;
	write_all("\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

int term_key_of(const char *bytes, size_t n, size_t *used)
{
	static const struct {
		const char *bytes;
		int key;
	} keys[] = {
		{ "[C", TERM_KEY_RIGHT },    { "OC", TERM_KEY_RIGHT },
		{ "[D", TERM_KEY_LEFT },     { "OD", TERM_KEY_LEFT },
		{ "[A", TERM_KEY_UP },	     { "OA", TERM_KEY_UP },
		{ "[B", TERM_KEY_DOWN },     { "OB", TERM_KEY_DOWN },
		{ "[5~", TERM_KEY_PAGE_UP }, { "[H", TERM_KEY_HOME },
		{ "OH", TERM_KEY_HOME },     { "[1~", TERM_KEY_HOME },
		{ "[F", TERM_KEY_END },	     { "OF", TERM_KEY_END },
		{ "[4~", TERM_KEY_END },     { "[6~", TERM_KEY_PAGE_DOWN },
	};
	size_t end = 1;

	*used = 0;
	if (!n || (bytes[0] != '[' && bytes[0] != 'O'))
		return TERM_KEY_ESCAPE;
	while (end < n && (bytes[end] < '@' || bytes[end] > '~'))
		end++;
	*used = end < n ? end + 1 : n;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strlen(keys[i].bytes) == *used && !memcmp(keys[i].bytes, bytes, *used))
			return keys[i].key;
	return TERM_KEY_OTHER;
}

/* Bytes read after an escape that do not belong to its key; at most one sequence. */
static struct {
	char byte[16];
	size_t n, at;
} waiting;

static bool next_byte(unsigned char *c, int wait_ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	if (waiting.at < waiting.n) {
		*c = (unsigned char)waiting.byte[waiting.at++];
		return true;
	}
	return poll(&p, 1, wait_ms) > 0 && read(STDIN_FILENO, c, 1) == 1;
}

#define ESCAPE_MS 25 /* a terminal sends a sequence at once; a person is slower */

static int key_behind_escape(void)
{
	unsigned char c;
	size_t n = 0, used;
	char bytes[sizeof(waiting.byte)];
	int key;

	while (n < sizeof(bytes) && next_byte(&c, ESCAPE_MS)) {
		bytes[n++] = (char)c;
		if (n == 1 ? c != '[' && c != 'O' : c >= '@' && c <= '~')
			break;
	}
	key = term_key_of(bytes, n, &used);
	waiting.n = n - used;
	waiting.at = 0;
	memcpy(waiting.byte, bytes + used, n - used);
	return key;
}

int term_key(const struct term *t)
{
	unsigned char c;

	if (!t->is_raw || !next_byte(&c, 0))
		return -1;
	return c == TERM_KEY_ESCAPE ? key_behind_escape() : c;
}

/* Length of the UTF-8 character at s, 0 when it must not be shown. */
static size_t shown_length(const unsigned char *s, size_t n)
{
	size_t k = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] < 0x20 || s[0] == 0x7f || k > n || !str_is_utf8(s, k))
		return 0;
	return k == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : k; /* C1 controls */
}

void term_put_safe(FILE *to, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t k;

	for (size_t i = 0; i < n; i += k ? k : 1) {
		k = shown_length(p + i, n - i);
		if (k)
			fwrite(p + i, 1, k, to);
		else
			fprintf(to, "\\x%02x", p[i]);
	}
}

void term_put_lines(FILE *to, const char *s, size_t n)
{
	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t line = end ? (size_t)(end - s) : n;

		term_put_safe(to, s, line);
		fputc('\n', to);
		s += line + (end != NULL);
		n -= line + (end != NULL);
	}
}
