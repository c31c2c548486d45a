# SPDX-License-Identifier: Apache-2.0
# common/tracer: what an lm and its lm-trace say to each other.
MODULES             += common/tracer
common/tracer.src   := tracer_msg.c
common/tracer.uses  := common/base
