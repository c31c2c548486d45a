# SPDX-License-Identifier: Apache-2.0
# tools/sensors: figures of hosts and nets, written as events.
MODULES            += tools/sensors
tools/sensors.src  := sense.c sense_out.c
tools/sensors.uses := common/base common/container eventlog eventlog/text eventlog/send \
		tools/libomis tools/term tools/session tools/events
