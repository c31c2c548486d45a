/* SPDX-License-Identifier: Apache-2.0 */
/* A loaded plug-in, in the process of lm-plugin: what it offers, and calls of its services. */
#ifndef LM_PLUGIN_SERVE_H
#define LM_PLUGIN_SERVE_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/tracer/tracer_msg.h"
#include "lm/plugin/plugin.h"

/*
 * Loads the file and opens the plug-in. Blocks as the plug-in does. -ERR_INVALID: it cannot be
 * loaded, it has no symbol omig_plugin, or another version; -ERR_SYS: it refused to open.
 */
int serve_load(const char *path, const struct omig_plugin **out, struct err *e);

/* Appends name and summary, a line, and then the definitions of its services (added.h). */
int serve_about(const struct omig_plugin *p, struct buf *out, struct err *e);

/* Calls a service by TRACER_PLUGIN_CALL, and appends the values of its result. */
int serve_call(const struct omig_plugin *p, const struct tracer_msg *m, struct buf *out,
	       struct err *e);

#endif
