/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/log/run_sensors.h"

#include "common/base/clock.h"
#include "common/base/file.h"
#include "tools/launch/beside.h"
#include "tools/sensors/sense.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS (NSEC_PER_SEC / 2) /* until mainsm knows the host */

static volatile sig_atomic_t has_ended;

static void *wait_for_end(void *arg)
{
	struct pollfd p = { .fd = *(const int *)arg, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	has_ended = 1;
	return NULL;
}

/* The program's stderr is its own: what fails here is silent. */
static void run(void *arg, int program)
{
	const struct run_sensors *s = arg;
	const struct timespec rest = { .tv_nsec = RETRY_NS };
	const char *log = getenv("OMIG_EVENT_LOG");
	struct sense_options w = { .common = CMD_COMMON_INIT,
				   .every_ns = s->every_ns,
				   .signal = &has_ended };
	char path[FILE_PATH_BYTES];
	pthread_t thread;

	snprintf(path, sizeof(path), "%s.sensors.olog", s->job);
	w.to = log && *log ? log : path;
	w.common.mainsm = s->mainsm;
	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (pthread_create(&thread, NULL, wait_for_end, &program))
		return;
	while (sense(&w) != CMD_OK && !has_ended)
		nanosleep(&rest, NULL);
}

void run_sensors_start(const struct run_sensors *s)
{
	struct run_sensors conf = *s;

	if (s->every_ns > 0)
		beside_start(run, &conf);
}
