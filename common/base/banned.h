/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that are compile errors in this project. The build includes this
 * header before every source, so that no source can omit it.
 */
#ifndef COMMON_BASE_BANNED_H
#define COMMON_BASE_BANNED_H

/* Declared before the macros below, which would change the declarations. */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(func) banned_function_##func()

/* Unbounded writes: use snprintf, str_dup, struct buf. */
#undef strcpy
#define strcpy(d, s) BANNED(strcpy)
#undef strcat
#define strcat(d, s) BANNED(strcat)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef alloca
#define alloca(n) BANNED(alloca)

/* Hidden static state: use strtok_r or a cursor, gmtime_r, localtime_r, rng.h. */
#undef strtok
#define strtok(s, d) BANNED(strtok)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef rand
#define rand() BANNED(rand)

/* Reports no errors: use str_to_i64. */
#undef atoi
#define atoi(s) BANNED(atoi)

/* Semantics that differ between systems: use sigaction. */
#undef signal
#define signal(n, f) BANNED(signal)

/* A shell between us and the program: use posix_spawn, or fork and execve. */
#undef system
#define system(c) BANNED(system)
#undef popen
#define popen(c, m) BANNED(popen)

#endif
