/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/function/plan.h"

#include "tracer/function/decode.h"

void decode_led(const struct file_code *other, struct function_code *c)
{
}

int plan_make(const struct function_code *c, const struct plan_target *t, struct plan *out,
	      struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "this Omig was built without a decoder of instructions: install "
		       "libzydis-dev and build it again");
}
