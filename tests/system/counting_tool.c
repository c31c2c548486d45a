/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool on libomis: counts the calls of argv[1] in a global counter in the ranks, and prints their
 * number. It runs for argv[2] milliseconds and until there is one call. With a third argument it
 * also prints the number meanwhile, whenever all ranks can be asked.
 */
#include <omig/omis.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char counter[64], csr[64];

static int fail(const char *what, Omis_reply r)
{
	fprintf(stderr, "%s: %s %s\n", what, omis_strerror(omis_reply_status(r)),
		r && r[0] && r[0]->result ? r[0]->result : omis_last_error());
	return 1;
}

static void on_reply(Omis_reply r, void *param)
{
	(void)param;
	if (r[0]->status == OMIS_CSR_DEFINED && r[0]->result)
		snprintf(csr, sizeof(csr), "%s", r[0]->result);
	else if (r[0]->status >= OMIS_FIRST_ERROR)
		exit(fail("conditional request", r));
	omis_reply_free(r);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void serve(long long ms, int until_defined)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };
	long long end = now_ms() + ms;

	while (now_ms() < end && !(until_defined && csr[0])) {
		poll(&p, 1, 50);
		omis_handler();
	}
}

/* The first value of action 1, or -1. */
static long long ask(const char *fmt, const char *what)
{
	char text[256];
	Omis_value *v;
	Omis_reply r;
	long long n = -1;

	snprintf(text, sizeof(text), fmt, what);
	r = omis_request(text, NULL, NULL, 0);
	if (omis_reply_status(r) != OMIS_OK)
		exit(fail(text, r));
	v = r[1] && r[1]->result ? omis_value_parse(r[1]->result, r[1]->result_len) : NULL;
	if (v && v->n && v->list[0].kind == OMIS_VALUE_TOKEN)
		snprintf(counter, sizeof(counter), "%s", v->list[0].s);
	else if (v && v->n)
		n = v->list[0].i;
	omis_value_free(v);
	omis_reply_free(r);
	return n;
}

static void say_meanwhile(long long ms)
{
	long long end = now_ms() + ms;
	Omis_coverage c;
	char text[256];
	Omis_reply r;

	snprintf(text, sizeof(text), ":pa_counter_read([%s])", counter);
	while (now_ms() < end) {
		r = omis_request(text, NULL, NULL, 0);
		omis_reply_coverage(r, &c);
		if (omis_reply_status(r) == OMIS_OK && c.answered == c.asked && r[1]->result)
			printf("%s\n", r[1]->result);
		fflush(stdout);
		omis_reply_free(r);
		serve(100, 0);
	}
}

int main(int argc, char **argv)
{
	char text[256];
	long long n;
	Omis_reply r;

	if (argc < 3 || omis_init(NULL, NULL, NULL, NULL) != OMIS_OK)
		return fail("omis_init", NULL);
	/* a slow rank on a busy machine is asked again */
	omis_request_policy(OMIS_WAIT_ALL, 0, 10000);
	ask(":site_attach([]) node_attach([]) proc_attach([])%s", "");
	ask(":pa_counter_global_create([])%s", "");
	snprintf(text, sizeof(text),
		 "thread_has_started_lib_call([],\"%s\"): pa_counter_global_increment(%s,1)",
		 argv[1], counter);
	r = omis_request(text, on_reply, NULL, 0);
	if (r)
		return fail(text, r);
	serve(60000, 1);
	ask(":csr_enable([%s])", csr);
	if (argc > 3)
		say_meanwhile(strtoll(argv[2], NULL, 10));
	else
		serve(strtoll(argv[2], NULL, 10), 0);
	/* No call yet: the program may not have run in that time. */
	for (int i = 0; (n = ask(":pa_counter_read([%s])", counter)) == 0 && i < 60; i++)
		serve(1000, 0);
	printf("%lld\n", n);
	omis_finalize();
	return 0;
}
