/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/call.h"

int call_insert(int32_t pid, int32_t tid, uint64_t addr, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "calls cannot be inserted");
}
