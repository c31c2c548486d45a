/* SPDX-License-Identifier: Apache-2.0 */
/* A 32-bit program without any library: it writes "0 wrong" when its input ends. */

static int call(int number, int a, const void *b, int c)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

void _start(void)
{
	char c;

	while (call(3, 0, &c, 1) > 0)
		;
	call(4, 1, "0 wrong\n", 8);
	call(1, 0, 0, 0);
}
