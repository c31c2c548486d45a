/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a shared library between those of the program traced. */
#include <string.h>

void traced_library_outer(void (*back)(int), int depth);
void traced_library_inner(void (*back)(int), int depth);

__attribute__((noinline)) void traced_library_inner(void (*back)(int), int depth)
{
	volatile char room[1000];

	memset((char *)room, depth, sizeof(room));
	back(depth);
	memset((char *)room, 0, sizeof(room));
}

__attribute__((noinline)) void traced_library_outer(void (*back)(int), int depth)
{
	volatile char room[100];

	memset((char *)room, depth, sizeof(room));
	traced_library_inner(back, depth - 1);
	memset((char *)room, 0, sizeof(room));
}
