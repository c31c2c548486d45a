# SPDX-License-Identifier: Apache-2.0
# tools/cmd: the commands of omig, one a file.
MODULES        += tools/cmd
tools/cmd.src  := cmd_admin.c cmd_audit.c cmd_cert.c cmd_check.c cmd_doctor.c cmd_dot.c \
		  cmd_events.c cmd_explain.c cmd_export.c cmd_jobs.c cmd_lifelines.c cmd_log.c \
		  cmd_measure.c cmd_probes.c cmd_request.c cmd_run.c \
		  cmd_selftest.c cmd_services.c cmd_sim.c cmd_site.c cmd_stats.c \
		  cmd_status.c cmd_top.c cmd_tree.c cmd_web.c doctor.c run_waits.c
tools/cmd.uses := common/base common/board common/cli common/container common/json common/ring \
		common/omis/text common/omis stats eventlog eventlog/text eventlog/lifeline \
		pmsl/check pmsl tools/web tools/term tools/session tools/launch tools/view \
		tools/chart tools/export tools/measure \
		tools/page tools/events tools/probes tools/selftest \
		tools/cmd/summary tools/cmd/log tools/sensors
