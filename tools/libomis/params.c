/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/libomis/params.h"

#include "common/base/str.h"

#include <string.h>

#define TIMEOUT_MAX_MS (24 * 3600 * 1000)

/*
 * Returns the number of words of option `name` at argv[0], and its argument in *value. 0: argv[0]
 * is another option.
 */
static int match(const char *name, char **argv, int words, const char **value)
{
	size_t n = strlen(name);

	if (strncmp(argv[0], name, n) != 0)
		return 0;
	if (argv[0][n] == '=') {
		*value = argv[0] + n + 1;
		return 1;
	}
	if (argv[0][n] != '\0')
		return 0;
	*value = words > 1 ? argv[1] : NULL;
	return 2;
}

/* Returns the number of words of the option at argv[0]; 0 if it is not ours. */
static int take_one(struct params *p, char **argv, int n, struct err *e)
{
	const char *value = NULL;
	int64_t ms;
	int used;

	used = match("--omis-mainsm", argv, n, &value);
	if (used) {
		if (!value)
			return err_set(e, ERR_INVALID, "--omis-mainsm needs a connection string");
		p->mainsm = value;
		return used;
	}
	used = match("--omis-timeout", argv, n, &value);
	if (used) {
		if (!value || str_to_i64(value, 1, TIMEOUT_MAX_MS, &ms))
			return err_set(e, ERR_INVALID, "--omis-timeout needs milliseconds, 1 to %d",
				       TIMEOUT_MAX_MS);
		p->timeout = ms * NSEC_PER_MSEC;
	}
	return used;
}

/* Moves other words to the front if `move` is set. Returns their number, or an error. */
static int scan(struct params *p, int argc, char **argv, bool move, struct err *e)
{
	int i, used, kept = argc > 0;

	for (i = 1; i < argc && argv[i];) {
		used = strcmp(argv[i], "--") == 0 ? -1 : take_one(p, argv + i, argc - i, e);
		if (used == -1)
			break;
		if (used < 0)
			return used;
		if (used == 0) {
			if (move)
				argv[kept] = argv[i];
			kept++;
		}
		i += used ? used : 1;
	}
	for (; i < argc; i++, kept++)
		if (move)
			argv[kept] = argv[i];
	return kept;
}

int params_take(struct params *p, int *argc, char ***argv, struct err *e)
{
	int kept;

	*p = (struct params){ .timeout = PARAMS_TIMEOUT_NS };
	if (!argc || !argv || !*argv)
		return 0;
	kept = scan(p, *argc, *argv, false, e);
	if (kept < 0)
		return kept;
	scan(p, *argc, *argv, true, e);
	if (kept < *argc)
		(*argv)[kept] = NULL;
	*argc = kept;
	return 0;
}
