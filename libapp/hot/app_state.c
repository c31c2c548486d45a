/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/app_state.h"

struct app_state app_state = {
	.fd = -1, .rank = -1, .world_size = -1, .lm_lock = -1, .lm_listener = -1
};
