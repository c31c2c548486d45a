/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that calls everything, in the plain language: C and C++. */
#include "lm/plugin/plugin.h"

static int serve(struct omig_plugin_call *c)
{
	size_t n;

	omig_plugin_list_begin(c);
	omig_plugin_put_int(c, omig_plugin_get_int(c, 0, 0) + omig_plugin_pid(c));
	omig_plugin_put_float(c, omig_plugin_get_float(c, 1, omig_plugin_count(c, 1)));
	omig_plugin_put_text(c, omig_plugin_get_text(c, 2, 0, &n), n);
	omig_plugin_list_end(c);
	return omig_plugin_fail(c, "no");
}

static const struct omig_plugin_service services[] = {
	{ "one", "int i", "n", "Help.", OMIG_PLUGIN_CHANGES, serve },
	{ 0, 0, 0, 0, 0, 0 },
};

OMIG_PLUGIN = { OMIG_PLUGIN_VERSION, "test", 0, 0, 0, services };
