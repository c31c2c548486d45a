# SPDX-License-Identifier: Apache-2.0
# mainsm/start: commands that start daemons on other hosts, from templates.
MODULES += mainsm/start
mainsm/start.src := starter.c template.c
mainsm/start.uses := common/base common/container common/loop mainsm/directory
