# SPDX-License-Identifier: Apache-2.0
# common/conf: configuration files and their values, from one table.
MODULES         += common/conf
common/conf.src  := conf.c conf_file.c conf_load.c conf_text.c conf_value.c
common/conf.uses := common/base common/cli
