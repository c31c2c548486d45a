# SPDX-License-Identifier: Apache-2.0
# tools/web: what an exporter needs of HTTP, and nothing more.
MODULES        += tools/web
tools/web.src  := web.c web_conn.c web_head.c
tools/web.uses := common/base
