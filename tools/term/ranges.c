/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/term/ranges.h"

void ranges_put(struct buf *out, const int64_t *number, size_t n, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < n; shown++) {
		int64_t first = number[i], last = first;

		for (; i < n && (number[i] == last || number[i] == last + 1); i++)
			last = number[i];
		if (shown == most) {
			buf_puts(out, ", ...");
			return;
		}
		buf_printf(out, "%s%lld", shown ? ", " : "", (long long)first);
		if (last > first)
			buf_printf(out, "%s%lld", last > first + 1 ? "-" : ", ", (long long)last);
	}
}
