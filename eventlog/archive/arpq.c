/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arpq.h"

#include "common/base/array.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifndef ARPQ_LIBRARY
#define ARPQ_LIBRARY "libpq.so.5" /* "": PostgreSQL is left out of this build */
#endif

#define CALL(result, name, params) { "PQ" #name, offsetof(struct arpq, name) },
static const struct call {
	const char *name;
	size_t at; /* its pointer in struct arpq */
} calls[] = { ARPQ_CALLS(CALL) };

int arpq_load(struct arpq *out, struct err *e)
{
	void *library = *ARPQ_LIBRARY ? dlopen(ARPQ_LIBRARY, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!*ARPQ_LIBRARY)
		return err_set(e, ERR_UNSUPPORTED,
			       "this omig was built with POSTGRESQL=no; use a file");
	if (!library)
		return err_set(e, ERR_UNSUPPORTED,
			       "PostgreSQL needs " ARPQ_LIBRARY
			       " (Debian: libpq5, Fedora: libpq), and it cannot be loaded; install "
			       "it, or use a file: %s",
			       dlerror());
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		void *symbol = dlsym(library, calls[i].name);

		if (!symbol)
			return err_set(e, ERR_UNSUPPORTED, ARPQ_LIBRARY " has no %s: it is too old",
				       calls[i].name);
		memcpy((char *)out + calls[i].at, &symbol, sizeof(symbol));
	}
	return 0;
}
