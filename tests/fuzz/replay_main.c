/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds each file named on the command line to a fuzz target: what `make check` does with the
 * corpora.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define INPUT_MAX (4 * 1024 * 1024)

/*
 * Copies the input to a block of exactly its size, so that a sanitizer detects a read past the
 * end.
 */
static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *all = malloc(INPUT_MAX), *exact = NULL;
	size_t n = 0;
	int rc = 1;

	if (f && all) {
		n = fread(all, 1, INPUT_MAX, f);
		exact = malloc(n ? n : 1);
		rc = ferror(f) || !exact;
	}
	if (!rc) {
		for (size_t i = 0; i < n; i++)
			exact[i] = all[i];
		fprintf(stderr, "%s\n", path);
		LLVMFuzzerTestOneInput(exact, n);
	} else {
		fprintf(stderr, "%s: cannot be read\n", path);
	}
	if (f)
		fclose(f);
	free(all);
	free(exact);
	return rc;
}

int main(int argc, char **argv)
{
	int bad = argc < 2;

	for (int i = 1; i < argc; i++)
		bad |= replay(argv[i]);
	return bad;
}
