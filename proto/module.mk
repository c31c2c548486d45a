# SPDX-License-Identifier: Apache-2.0
# proto: frames, the messages' wire form, the guard before decoding. The one
# room that sees generated protobuf code.
MODULES     += proto
proto.src   := frame.c guard.c table.c convert.c msg.c
proto.proto := omig.proto
proto.pkgs  := libprotobuf-c
proto.uses  := common/base
