# SPDX-License-Identifier: Apache-2.0
# tools/alert: conditions of alerts, and commands that they start.
MODULES          += tools/alert
tools/alert.src  := condition.c hook.c
tools/alert.uses := common/base common/cli pmsl/check tools/term
