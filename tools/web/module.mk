# SPDX-License-Identifier: Apache-2.0
# tools/web: the part of HTTP that an exporter and a page need.
MODULES        += tools/web
tools/web.src  := web.c web_conn.c web_head.c web_judge.c
tools/web.uses := common/base common/container
