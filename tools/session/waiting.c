/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/waiting.h"

#include "tools/session/session.h"
#include "tools/term/signals.h"

#include <math.h>
#include <unistd.h>

static void show(struct waiting *w)
{
	double seconds = progress_seconds(&w->line);
	double all = round(10 * (double)(w->until - w->line.begin) / (double)NSEC_PER_SEC) / 10;

	if (w->until == WAITING_FOREVER)
		progress_show(&w->line, "omig: %s, %.0f s; ctrl-C %s", w->doing, seconds,
			      w->interrupt);
	else
		progress_show(&w->line, "omig: %s, %.0f s of %.12g s; ctrl-C %s", w->doing, seconds,
			      all, w->interrupt);
}

void waiting_begin(struct waiting *w, const char *doing, const char *interrupt, nsec_t until,
		   bool is_quiet)
{
	*w = (struct waiting){ .doing = doing, .interrupt = interrupt, .until = until };
	progress_begin(&w->line, is_quiet || !isatty(STDOUT_FILENO));
	if (until == WAITING_FOREVER || until - w->line.begin <= PROGRESS_AFTER_NS)
		return;
	show(w);
	w->line.next = w->line.begin + PROGRESS_EACH_NS;
}

/* A lost connection has a separate message. */
void waiting_show(struct waiting *w)
{
	if (session_link() != SESSION_UP)
		waiting_hide(w);
	else if (progress_is_due(&w->line))
		show(w);
}

void waiting_hide(struct waiting *w)
{
	progress_end(&w->line);
}

void waiting_end(struct waiting *w)
{
	waiting_hide(w);
	w->line.is_wanted = false;
}

void waiting_until(const char *doing, const char *interrupt, nsec_t until, bool is_quiet)
{
	struct waiting w;
	nsec_t now;

	waiting_begin(&w, doing, interrupt, until, is_quiet);
	while (!signals_last && session_link() == SESSION_UP && (now = clock_mono()) < until) {
		session_turn(until - now, false);
		waiting_show(&w);
	}
	waiting_end(&w);
}
