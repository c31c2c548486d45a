/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes numbered events to a destination: with omig/event.h, or with NetLogger's calls. Prints how
 * many it has written.
 *
 *	netlogged event|netlogger DESTINATION EVENTS [RANK [PAUSE_US [BURST]]]
 *
 * Numbers begin at RANK * 2^40. After each BURST events it pauses.
 */
#include <omig/event.h>
#include <omig/netlogger.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

OMIG_EVENT(tick, "tick", OMIG_INFO, (int64, number))
OMIG_EVENT(tock, "tock", OMIG_INFO, (int64, number))

static char events[][5] = { "tick", "tock" }, fmt[] = "number=%ld", program[] = "netlogged";

static long argument(int argc, char **argv, int i, long otherwise)
{
	return i < argc ? strtol(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	int is_event = argc > 3 && !strcmp(argv[1], "event");
	long n = argument(argc, argv, 3, 0), first = argument(argc, argv, 4, 0) << 40;
	long pause_us = argument(argc, argv, 5, 0), burst = argument(argc, argv, 6, 100);
	NL_Handle *log = NULL;
	long refused = 0;

	if (argc < 4 || (is_event && omig_event_open(argv[2], 0)) ||
	    (!is_event && !(log = NetLoggerOpen(program, argv[2], 0)))) {
		perror("netlogged");
		return 1;
	}
	for (long i = 0; i < n; i++) {
		int is_tock = i / 777 % 2; /* blocks begin with one type or the other */

		if (is_event && is_tock)
			omig_event(tock, first + i);
		else if (is_event)
			omig_event(tick, first + i);
		else if (NetLoggerWrite(log, events[is_tock], NULL, fmt, first + i) < 0)
			refused++;
		if (pause_us && i % burst == burst - 1)
			usleep((useconds_t)pause_us);
	}
	if (is_event ? omig_event_close() : NetLoggerClose(log))
		fprintf(stderr, "netlogged: the end was not confirmed\n");
	printf("written %ld refused %ld\n", n, refused);
	return 0;
}
