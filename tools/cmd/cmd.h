/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of omig. argv[0] is the name of the command; each returns the exit status. */
#ifndef TOOLS_CMD_CMD_H
#define TOOLS_CMD_CMD_H

#include "tools/term/say.h"

int cmd_run(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_jobs(int argc, char **argv);
int cmd_calls(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_waits(int argc, char **argv);
int cmd_matrix(int argc, char **argv);
int cmd_tree(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_alert(int argc, char **argv);
int cmd_stacks(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_request(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_services(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_dot(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_interaction(int argc, char **argv);
int cmd_lifelines(int argc, char **argv); /* omig log lifelines; argv[0] is that last word */
int cmd_stats(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_web(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_plugin(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_cert(int argc, char **argv);
int cmd_site(int argc, char **argv);
int cmd_admin(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
