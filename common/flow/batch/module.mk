# SPDX-License-Identifier: Apache-2.0
# common/flow/batch: batches of partial results between levels, encoded and decoded.
MODULES                += common/flow/batch
common/flow/batch.src  := batch_decode.c batch_encode.c rest.c
common/flow/batch.uses := common/base common/flow/graph common/flow/engine
