# SPDX-License-Identifier: Apache-2.0
# tools/web: the part of HTTP that an exporter needs.
MODULES        += tools/web
tools/web.src  := web.c web_conn.c web_head.c
tools/web.uses := common/base common/container
