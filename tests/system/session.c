/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool for tests that remains connected: each line of its input is a request, and the end of the
 * input ends it. It attaches everything first. An entry of a reply is a line
 *
 *	LINE ACTION STATUS OBJECTS VALUE
 *
 * with - for no objects; `LINE done` ends an answer. A conditional request is
 * enabled by itself, then done; its events come under its line's number.
 */
#include "tools/libomis/omis.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 4096

static void print_reply(long line, Omis_reply r)
{
	for (int i = 0; r && r[i]; i++)
		for (int k = 0; r[i][k].obj_list; k++)
			printf("%ld %d %d %s %s\n", line, i, r[i][k].status,
			       r[i][k].obj_list[0] ? r[i][k].obj_list : "-",
			       r[i][k].result ? r[i][k].result : "");
	fflush(stdout);
}

static void print_done(long line)
{
	printf("%ld done\n", line);
	fflush(stdout);
}

static void on_enabled(Omis_reply r, void *line)
{
	omis_reply_free(r);
	print_done((long)(intptr_t)line);
}

static void on_reply(Omis_reply r, void *line)
{
	char text[128];

	print_reply((long)(intptr_t)line, r);
	if (r[0]->status == OMIS_CSR_DEFINED && r[0]->result) {
		snprintf(text, sizeof(text), ":csr_enable([%s])", r[0]->result);
		omis_reply_free(omis_request(text, on_enabled, line, 0));
	} else if (r[0]->status >= OMIS_FIRST_ERROR) {
		print_done((long)(intptr_t)line);
	}
	omis_reply_free(r);
}

static void ask(long line, char *text)
{
	bool conditional = text[strspn(text, " \t")] != ':';
	Omis_reply r = omis_request(text, conditional ? on_reply : NULL, (void *)(intptr_t)line, 0);

	if (conditional && !r)
		return;
	print_reply(line, r);
	omis_reply_free(r);
	print_done(line);
}

/* Takes whole lines from the received text; the rest waits. */
static void take_lines(char *text, size_t *used, long *line)
{
	char *end;

	while ((end = memchr(text, '\n', *used))) {
		*end = 0;
		ask(++*line, text);
		*used -= (size_t)(end + 1 - text);
		memmove(text, end + 1, *used);
	}
}

static void serve(void)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .events = POLLIN } };
	char text[LINE_BYTES];
	size_t used = 0;
	long line = 0;
	ssize_t n;

	for (;;) {
		p[1].fd = omis_fd();
		poll(p, 2, 50);
		omis_handler();
		if (!p[0].revents)
			continue;
		n = read(STDIN_FILENO, text + used, sizeof(text) - used);
		if (n <= 0)
			return;
		used += (size_t)n;
		take_lines(text, &used, &line);
	}
}

/* A host whose processor is busy for a while is not a missing part. */
#define DEADLINE_MS 10000

int main(void)
{
	char attach[] = ":site_attach([]) node_attach([]) proc_attach([])";
	Omis_reply r;

	if (omis_init(NULL, NULL, NULL, NULL) != OMIS_OK) {
		fprintf(stderr, "session: %s\n", omis_last_error());
		return 1;
	}
	omis_request_policy(OMIS_WAIT_ALL, 0, DEADLINE_MS);
	r = omis_request(attach, NULL, NULL, 0);
	omis_reply_free(r);
	serve();
	omis_finalize();
	return 0;
}
