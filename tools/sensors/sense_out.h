/* SPDX-License-Identifier: Apache-2.0 */
/* Where the events of sensors go: lines, a log that others may append to, or a receiver. */
#ifndef TOOLS_SENSORS_SENSE_OUT_H
#define TOOLS_SENSORS_SENSE_OUT_H

#include "eventlog/evread.h"

#include <stdbool.h>

struct sense_out;

/* to NULL: lines on standard output, or objects. Returns an exit status and reports failures. */
int sense_out_open(const char *to, bool is_json, struct sense_out **out);
int sense_out_event(struct sense_out *o, const struct event *ev);

/* Writes the pending events, as whole blocks or lines. */
int sense_out_flush(struct sense_out *o);

/* Writes the end. NULL is fine. */
int sense_out_close(struct sense_out *o);

#endif
