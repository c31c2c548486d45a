# SPDX-License-Identifier: Apache-2.0
# tools/measure: measurements, and texts of metrics.
MODULES            += tools/measure
tools/measure.src  := charts.c charts_picture.c graph_drawing.c history.c measurement.c \
		measurement_ended.c measurement_functions.c measurement_names.c \
		measurement_objects.c measurement_order.c measurement_regions.c \
		measurement_show.c measurement_since.c measurement_until.c pmsl_text.c reading.c
tools/measure.uses := common/base common/cli common/container common/json \
		common/ring common/omis/text common/omis stats pmsl/check pmsl tools/libomis \
		tools/chart tools/term tools/session
