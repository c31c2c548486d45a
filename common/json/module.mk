# SPDX-License-Identifier: Apache-2.0
# common/json: JSON written, and small documents read.
MODULES         += common/json
common/json.src  := json.c
common/json.uses := common/base
