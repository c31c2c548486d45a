/* SPDX-License-Identifier: Apache-2.0 */
/* plant: its words. */
#include "plant.h"

#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option words[] = {
	{ "kernel", required_argument, NULL, 'k' }, { "plant", required_argument, NULL, 'p' },
	{ "size", required_argument, NULL, 's' },   { "where", required_argument, NULL, 'w' },
	{ "from", required_argument, NULL, 'f' },   { "until", required_argument, NULL, 'u' },
	{ "for", required_argument, NULL, 'F' },    { "step", required_argument, NULL, 'S' },
	{ "jitter", required_argument, NULL, 'j' }, { "work", required_argument, NULL, 'W' },
	{ "extra", required_argument, NULL, 'x' },  { "bytes", required_argument, NULL, 'b' },
	{ "truth", required_argument, NULL, 't' },  { "pids", required_argument, NULL, 'P' },
	{ "enough", required_argument, NULL, 'e' }, { "seed", required_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },	    { 0 }
};

static const char usage[] =
	"usage: plant [--kernel NAME] [--plant NAME [--size SHARE] [--where RANK,...]\n"
	"             [--from S] [--until S]] [--for S] [--step MS] [--work sleep|spin|count]\n"
	"             [--extra sleep|spin|count] [--jitter SHARE] [--bytes N] [--seed N]\n"
	"             [--truth FILE] [--pids FILE] [--enough FILE]\n"
	"  --kernel  what the ranks do; without it, that of the plant\n"
	"  --size    share of all rank-seconds that the plant costs (0.1)\n"
	"  --where   the ranks that the plant makes late\n"
	"  --from, --until  seconds of the run in which it does so\n"
	"  --for     seconds of the run (30); it ends earlier when the file --enough exists\n"
	"  --step    work of a rank in a step (40)\n"
	"  --work    sleep: without a processor; spin: so much processor time; count: so many\n"
	"            iterations of a loop. --extra: the same for the work of the plant\n"
	"  --truth   the measured losses, as JSON; --pids: a line `RANK PID` for each rank\n";

static double number(const char *text, double least, double most)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !(x >= least && x <= most))
		fail("no number, or out of range", text);
	return x;
}

static enum work_by work_by(const char *text)
{
	static const char *const names[] = { "sleep", "spin", "count" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(names[i], text))
			return (enum work_by)i;
	fail("is not sleep, spin or count", text);
	return WORK_SLEEP;
}

static void late_ranks(struct plant *p, const char *text)
{
	while (*text) {
		char *end;
		long rank = strtol(text, &end, 10);

		if (end == text || (*end && *end != ',') || rank < 0 || rank >= p->ranks ||
		    p->nlate == p->ranks - 1)
			fail("is not a list of some of the ranks", text);
		p->late[p->nlate++] = (int)rank;
		text = *end ? end + 1 : end;
	}
}

static void help(const struct plant *p)
{
	if (!p->rank) {
		printf("%skernels:", usage);
		kernel_print();
		printf("plants:\n");
		planted_print();
	}
	MPI_Finalize();
	exit(0);
}

/* The words that say what happens; returns whether it is one. */
static int plant_word(struct plant *p, int word, const char *value)
{
	switch (word) {
	case 'k':
		p->kernel = kernel_find(value);
		if (!p->kernel)
			fail("is not a kernel", value);
		return 1;
	case 'p':
		p->planted = planted_find(value);
		if (!p->planted)
			fail("cannot be planted", value);
		return 1;
	case 's':
		p->size = number(value, 1e-4, 0.99);
		return 1;
	case 'w':
		late_ranks(p, value);
		return 1;
	case 'f':
		p->from = number(value, 0, 1e6);
		return 1;
	case 'u':
		p->until = number(value, 0, 1e6);
		return 1;
	default:
		return 0;
	}
}

static int work_word(struct plant *p, int word, const char *value)
{
	switch (word) {
	case 'F':
		p->seconds = number(value, 0, 1e6);
		return 1;
	case 'S':
		p->work = number(value, 0.01, 1e6) / 1e3;
		return 1;
	case 'j':
		p->jitter = number(value, 0, 1);
		return 1;
	case 'W':
		p->by = p->extra_by = work_by(value);
		return 1;
	case 'x':
		p->extra_by = work_by(value);
		return 1;
	case 'b':
		p->bytes = (int)number(value, RANKS_MAX, 1 << 26);
		return 1;
	default:
		return 0;
	}
}

static void file_word(struct plant *p, int word, const char *value)
{
	if (word == 't')
		p->truth = value;
	else if (word == 'P')
		p->pids = value;
	else if (word == 'e')
		p->enough = value;
	else if (word == 'd')
		p->seed = (unsigned)number(value, 0, 1e9);
	else if (word == 'h')
		help(p);
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
}

void options_parse(struct plant *p, int argc, char **argv)
{
	int word;

	opterr = !p->rank;
	while ((word = getopt_long(argc, argv, "", words, NULL)) != -1)
		if (!plant_word(p, word, optarg) && !work_word(p, word, optarg))
			file_word(p, word, optarg);
	if (optind < argc)
		fail("is one word too many", argv[optind]);
	if (!p->kernel)
		p->kernel = kernel_find(p->planted ? p->planted->kernel : "barrier");
	if (p->planted && !p->nlate)
		p->late[p->nlate++] = p->planted->where < 0 ? p->ranks - 1 : p->planted->where;
	planted_prepare(p);
}
