/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/progress.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES 256

/* True for a terminal with control sequences: without them the line could not be removed. */
static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && !str_eq(term, "dumb");
}

void progress_begin(struct progress *p, bool is_quiet)
{
	*p = (struct progress){ .is_wanted = !is_quiet && is_terminal(), .begin = clock_mono() };
	p->next = p->begin + PROGRESS_AFTER_NS;
}

bool progress_is_due(struct progress *p)
{
	nsec_t now;

	if (!p->is_wanted)
		return false;
	now = clock_mono();
	if (now < p->next)
		return false;
	p->next = now + PROGRESS_EACH_NS;
	return true;
}

double progress_seconds(const struct progress *p)
{
	return (double)(clock_mono() - p->begin) / (double)NSEC_PER_SEC;
}

/* Returns the largest length of the line: a longer one would wrap and could not be removed. */
static int width(void)
{
	struct winsize w = { 0 };

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 2)
		return 79;
	return w.ws_col - 1;
}

void progress_show(struct progress *p, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	if (!p->is_wanted)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "\r\x1b[K%.*s", width(), line);
	p->is_shown = true;
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		fputs("\r\x1b[K", stderr);
	p->is_shown = false;
}
