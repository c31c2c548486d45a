# SPDX-License-Identifier: Apache-2.0
# tracer/gate: the gate of a process (common/gate): its code, and what leads into it.
MODULES          += tracer/gate
tracer/gate.src  := image.c image_objects.c code.c build.c
tracer/gate.uses := common/base common/container common/gate common/ring
