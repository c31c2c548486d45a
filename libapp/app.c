/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/app.h"

#include "libapp/hot/app_state.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int omig_app_attached(void)
{
	if (!app_state.base)
		return OMIG_UNWATCHED;
	return __atomic_load_n(&app_header()->l.lm_epoch, __ATOMIC_RELAXED) ? OMIG_ATTACHED
									    : OMIG_READY;
}

EXPORT const char *omig_app_version(void)
{
	return OMIG_VERSION;
}
