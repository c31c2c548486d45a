/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/signals.h"

#include "common/base/array.h"
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

void signals_catch(bool once)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction a = { .sa_handler = on_signal }, was;

	signals_last = signals_count = signals_resize = 0;
	sigaction(SIGWINCH, &a, NULL);
	a.sa_flags = once ? SA_RESETHAND : 0;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) || was.sa_handler != SIG_IGN)
			sigaction(ends[i], &a, NULL);
}

int signals_status(int rc)
{
	return rc == CMD_OK && signals_last == SIGTERM ? CMD_SIGNAL + SIGTERM : rc;
}
