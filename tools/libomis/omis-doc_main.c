/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of services as text, for manual pages and completion. Built, not installed. */
#include "common/base/str.h"
#include "common/base/array.h"
#include "common/omis/services/catalogue.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *form;
		void (*print)(struct buf *);
	} forms[] = { { "scdoc", omis_print_scdoc },
		      { "markdown", omis_print_markdown },
		      { "completion", omis_print_completion } };
	struct buf b = BUF_INIT(16 << 20);

	for (size_t i = 0; argc == 2 && i < ARRAY_LEN(forms); i++)
		if (str_eq(argv[1], forms[i].form))
			forms[i].print(&b);
	if (b.n == 0 || b.failed) {
		fputs("usage: omis-doc scdoc|markdown|completion\n", stderr);
		return 2;
	}
	fwrite(b.p, 1, b.n, stdout);
	buf_done(&b);
	return fflush(stdout) == 0 ? 0 : 1;
}
