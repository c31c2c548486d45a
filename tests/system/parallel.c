/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenMP program: its threads add up numbers until a file is there. What it prints does not
 * depend on how long that took. */
#include <stdio.h>
#include <unistd.h>

#define NUMBERS 1000000
#define REST_US 2000

int main(int argc, char **argv)
{
	long long sum;

	if (argc != 2)
		return 2;
	do {
		sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
		for (int i = 0; i < NUMBERS; i++)
			sum += i;
		usleep(REST_US);
	} while (access(argv[1], F_OK));
	printf("sum %lld\n", sum);
	return 0;
}
