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

/* What term_restore() goes back to: the terminal is one, so is its state. */
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

	(void)n; /* a terminal that is gone has nothing to restore */
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

int term_key(const struct term *t)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char c;

	if (!t->is_raw || poll(&p, 1, 0) <= 0 || read(STDIN_FILENO, &c, 1) != 1)
		return -1;
	return c;
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
	size_t i, k;

	for (i = 0; i < n; i += k ? k : 1) {
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
