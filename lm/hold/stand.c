/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hold/stand.h"

static char state_of(struct host *h, int32_t pid, int32_t tid)
{
	struct host_figures f;

	return host_thread_figures(h, pid, tid, HOST_FIGURES_STAT, &f) ? 'X' : f.state;
}

static bool stands(char state)
{
	return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

/* Returns false if a thread may run, or if not all threads were examined. */
static bool all_stand(struct host *h, int32_t pid, struct stand *s, unsigned *looks)
{
	int32_t tid[HOST_THREADS_MAX];
	size_t n = HOST_THREADS_MAX;

	if (host_threads(h, pid, tid, &n))
		return false; /* the process is ending */
	for (size_t i = 0; i < n; i++) {
		char state;

		if (tid[i] <= s->last)
			continue;
		if (!*looks)
			return false;
		--*looks;
		state = state_of(h, pid, tid[i]);
		if (!stands(state)) {
			s->state = state;
			s->is_second = false;
			return false;
		}
		s->was_traced |= state == 't';
		s->last = tid[i];
	}
	return true;
}

bool stand_poll(struct host *h, int32_t pid, struct stand *s, unsigned *looks)
{
	bool was_traced;

	if (!all_stand(h, pid, s, looks))
		return false;
	was_traced = s->was_traced;
	s->was_traced = false;
	s->last = 0;
	if (!was_traced || s->is_second)
		return true;
	s->is_second = true;
	return false;
}
