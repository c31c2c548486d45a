/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/signals.h"

#include "common/base/array.h"
#include "common/cli/endsignal.h"
#include "tools/term/say.h"

#include <stddef.h>

volatile sig_atomic_t signals_last, signals_count, signals_resize;

static void on_signal(int signo)
{
	if (signo == SIGWINCH) {
		signals_resize = 1;
		return;
	}
	signals_last = signo;
	signals_count++;
}

static void on_first_signal(int signo)
{
	on_signal(signo);
	end_signal_note(signo);
}

void signals_catch(bool once)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction resize = { .sa_handler = on_signal };
	const struct sigaction a = { .sa_handler = once ? on_first_signal : on_signal };
	struct sigaction was;

	signals_last = signals_count = signals_resize = 0;
	sigaction(SIGWINCH, &resize, NULL);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) || was.sa_handler != SIG_IGN)
			sigaction(ends[i], &a, NULL);
}

int signals_status(int rc)
{
	return rc == CMD_OK && signals_last == SIGTERM ? CMD_SIGNAL + SIGTERM : rc;
}
