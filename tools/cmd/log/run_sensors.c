/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/log/run_sensors.h"

#include "common/base/clock.h"
#include "common/base/file.h"
#include "tools/launch/beside.h"
#include "tools/sensors/sense.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS (NSEC_PER_SEC / 2) /* until mainsm knows the host */

static volatile sig_atomic_t has_ended;

static void note_end(void)
{
	has_ended = 1;
}

/* The program's stderr is its own: what fails here is silent. */
static void run(void *arg)
{
	const struct run_sensors *s = arg;
	const struct timespec rest = { .tv_nsec = RETRY_NS };
	const char *log = getenv("OMIG_EVENT_LOG");
	struct sense_options w = { .common = CMD_COMMON_INIT,
				   .every_ns = s->every_ns,
				   .signal = &has_ended };
	char path[FILE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s.sensors.olog", s->job);
	w.to = log && *log ? log : path;
	w.common.mainsm = s->mainsm;
	dup2(STDOUT_FILENO, STDERR_FILENO);
	while (sense(&w) != CMD_OK && !has_ended)
		nanosleep(&rest, NULL);
}

void run_sensors_start(const struct run_sensors *s)
{
	struct run_sensors conf = *s;

	if (s->every_ns > 0)
		beside_start(&(struct beside){ run, note_end, &conf });
}
