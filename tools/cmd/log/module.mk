# SPDX-License-Identifier: Apache-2.0
# tools/cmd/log: commands of omig log with options of their own.
MODULES            += tools/cmd/log
tools/cmd/log.src  := cmd_receive.c cmd_sense.c run_board.c run_record.c run_sensors.c
tools/cmd/log.uses := common/base common/board common/cli eventlog tools/term tools/events \
		tools/receive tools/sensors tools/launch
# The program beside which they run has ended.
tools/cmd/log.statics := run_sensors.c:has_ended run_record.c:ends run_record.c:ready_fd \
		run_board.c:ends
