# SPDX-License-Identifier: Apache-2.0
# tools/measure: measurements, and texts of metrics.
MODULES            += tools/measure
tools/measure.src  := measurement.c measurement_ended.c measurement_names.c measurement_regions.c \
		  measurement_show.c measurement_until.c pmsl_text.c
tools/measure.uses := common/base common/ring common/omis stats pmsl tools/libomis tools/term \
		  tools/session
