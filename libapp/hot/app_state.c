/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/app_state.h"

#include "libapp/hot/args.h"
#include "libapp/hot/hook.h"

struct app_state app_state = {
	.fd = -1, .rank = -1, .world_size = -1, .lm_lock = -1, .lm_listener = -1
};

uint32_t hook_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));
struct collective_state numbered = { .world = COLLECTIVE_NO_HANDLE,
				     .f_world = COLLECTIVE_NO_HANDLE };
uint32_t collective_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));
struct seg_current hook_nowhere = { .frame = UINTPTR_MAX };
_Thread_local struct hook_thread hook_thread
	__attribute__((tls_model("initial-exec"))) = { .now = &hook_nowhere };
const struct args_message_ops *args_message_ops;
