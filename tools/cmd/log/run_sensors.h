/* SPDX-License-Identifier: Apache-2.0 */
/* omig run --sensors: load of the hosts, written beside the program while it runs. */
#ifndef TOOLS_CMD_LOG_RUN_SENSORS_H
#define TOOLS_CMD_LOG_RUN_SENSORS_H

#include <stdint.h>

struct run_sensors {
	const char *job;
	const char *mainsm; /* NULL: as libomis finds it */
	int64_t every_ns; /* 0: no sensors */
};

/*
 * Events go to the program's own log (OMIG_EVENT_LOG), else to JOB.sensors.olog. Call it before the
 * program takes the place of this process.
 */
void run_sensors_start(const struct run_sensors *s);

#endif
