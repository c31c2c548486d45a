/* SPDX-License-Identifier: Apache-2.0 */
/* plant: what may be planted, and how much extra work costs the stated share of all time. */
#include "plant.h"

#include <stdio.h>
#include <string.h>

/* A late rank takes work + x for a step, the others wait x: (n - 1) x = size n (work + x). Several
 * late ranks: n - nlate of them wait. */
static double late(const struct plant *p, double size)
{
	double n = p->ranks, waiting = n - p->nlate;

	return size * n * p->work / (waiting - size * n);
}

/* The root alone waits, since its work is x shorter: x = size n work. */
static double early(const struct plant *p, double size)
{
	return -size * p->ranks * p->work;
}

/* A sweep has m blocks in each rank and takes the time of m + n - 1: the number m. */
static double sweep(const struct plant *p, double size)
{
	return (p->ranks - 1) * (1 - size) / size;
}

/* A step takes T = work / (1 - size n / (n - 1)), in which the server answers n - 1 requests. */
static double served(const struct plant *p, double size)
{
	double clients = p->ranks - 1;

	return p->work / (1 - size * p->ranks / clients) / clients;
}

/* Each rank spends x in calls: x = size (work + x). */
static double each(const struct plant *p, double size)
{
	return size * p->work / (1 - size);
}

static const struct planted plants[] = {
	{ "imbalance_at_barrier", "barrier", "W1", late, -1 },
	{ "imbalance_at_allreduce", "allreduce", "W2", late, -1 },
	{ "imbalance_at_alltoall", "alltoall", "W2", late, -1 },
	{ "late_broadcast", "bcast", "W3", late, 0 },
	{ "early_reduce", "reduce", "W4", early, 0 },
	{ "late_sender", "ring", "W5", late, -1 },
	{ "late_neighbour", "stencil", "W5", late, -1 },
	{ "late_receiver", "chain", "W6", late, -1 },
	{ "serialisation", "wavefront", "W8", sweep, 0 },
	{ "hot_server", "server", "W11", served, 0 },
	{ "small_messages", "small", "W13", each, 0 },
	{ "slow_file", "file", "W15", each, 0 },
};

const struct planted *planted_find(const char *name)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		if (!strcmp(plants[i].name, name))
			return &plants[i];
	return NULL;
}

void planted_prepare(struct plant *p)
{
	if (!p->planted)
		return;
	p->extra = p->planted->extra(p, p->size);
	/* The sizes from which on the formulas have no solution. */
	if (!(p->extra >= -0.98 * p->work && p->extra < 1e6) ||
	    (p->extra < 0) != (p->planted->extra == early))
		fail("so few ranks cannot lose a share of that size", p->planted->name);
}

void planted_print(void)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		printf("%-24s%-4s kernel %s\n", plants[i].name, plants[i].hypothesis,
		       plants[i].kernel);
}

int planted_is_active(const struct plant *p)
{
	double t = now() - p->begin;

	return p->planted && t >= p->from && t < p->until;
}

static int is_late(const struct plant *p)
{
	if (!planted_is_active(p))
		return 0;
	for (int i = 0; i < p->nlate; i++)
		if (p->late[i] == p->rank)
			return 1;
	return 0;
}

double planted_extra(const struct plant *p)
{
	if (!p->planted || (p->planted->extra != late && p->planted->extra != early))
		return 0;
	return is_late(p) ? p->extra : 0;
}

double planted_own(const struct plant *p, double healthy)
{
	return planted_is_active(p) ? p->extra : healthy;
}
