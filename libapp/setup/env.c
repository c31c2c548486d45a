/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment asks of this library. */
#include "common/base/str.h"
#include "libapp/setup/setup.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma weak gnu_get_libc_version

const char *setup_env(const char *name)
{
	const char *v = secure_getenv(name);

	return v && *v ? v : NULL;
}

void setup_say(const char *what, int code)
{
	char line[256];
	int n;

	if (!setup_env("OMIG_DEBUG"))
		return;
	n = snprintf(line, sizeof(line), "omig[%d]: %s%s%s\n", (int)getpid(), what,
		     code ? ": " : "", code ? strerror_r(code, (char[64]){ 0 }, 64) : "");
	if (n > 0 &&
	    write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return;
}

/* Other C libraries load this one, so that their programs start; that is all that is known of
 * them. */
static bool is_glibc(void)
{
	return gnu_get_libc_version != NULL;
}

bool setup_is_disabled(void)
{
	const char *disable = setup_env("OMIG_DISABLE");

	return !is_glibc() || (disable && !str_eq(disable, "0"));
}

bool setup_is_named(void)
{
	return setup_env("OMIG_MAINSM") && !setup_is_disabled();
}
