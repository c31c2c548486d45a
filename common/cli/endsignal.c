/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/endsignal.h"

#include "common/base/clock.h"

#define SAME_SIGNAL_NS (NSEC_PER_SEC / 2)

volatile sig_atomic_t end_signal;

static volatile nsec_t first;

void end_signal_note(int signo)
{
	static const struct sigaction ends = { .sa_handler = SIG_DFL };
	nsec_t now = clock_mono();

	if (!end_signal)
		first = now;
	end_signal = signo;
	if (now - first > SAME_SIGNAL_NS) {
		sigaction(signo, &ends, NULL);
		raise(signo);
	}
}

void end_signal_catch(void)
{
	const struct sigaction a = { .sa_handler = end_signal_note };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
}
