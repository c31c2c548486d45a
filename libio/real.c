/* SPDX-License-Identifier: Apache-2.0 */
#include "libio/io.h"

#include <dlfcn.h>
#include <errno.h>

void *io_real(const char *name)
{
	int saved = errno;
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		dlerror(); /* the program would find it */
	errno = f ? saved : ENOSYS;
	return f;
}
