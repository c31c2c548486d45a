# SPDX-License-Identifier: Apache-2.0
# common/json: JSON: a writer, and a reader of small documents.
MODULES         += common/json
common/json.src  := failure.c json.c
common/json.uses := common/base
