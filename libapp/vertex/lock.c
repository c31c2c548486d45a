/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of libapp/hot/hook.h. */
#include "libapp/vertex/internal.h"

/* Attempts to enter: some 50 us, while another thread needs 0.1 us unless it is descheduled. */
#define ATTEMPTS 10000

struct messages messages;

bool messages_try(void)
{
	if (!messages.is_shared)
		return true;
	for (unsigned i = 0; i < ATTEMPTS; i++)
		if (!__atomic_load_n(&messages.busy, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&messages.busy, 1, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

bool messages_enter(void)
{
	bool is_in = messages_try();

	if (!is_in)
		vertex_miss();
	return is_in;
}

void messages_leave(void)
{
	if (messages.is_shared)
		__atomic_store_n(&messages.busy, 0, __ATOMIC_RELEASE);
}
