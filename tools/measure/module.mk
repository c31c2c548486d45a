# SPDX-License-Identifier: Apache-2.0
# tools/measure: measurements, and texts of metrics.
MODULES            += tools/measure
tools/measure.src  := measuring.c measuring_ended.c measuring_names.c measuring_regions.c \
		  measuring_show.c measuring_until.c pmsl_text.c
tools/measure.uses := common/base common/ring common/omis stats pmsl tools/libomis tools/term \
		  tools/session
