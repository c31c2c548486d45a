# SPDX-License-Identifier: Apache-2.0
# Knobs and flags. Make predefines CC, so `CC ?=` would never apply; with -R (inherited by a make
# started from here) it is not there at all.

MAKEFLAGS += -rR --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
# No prerequisites, here or elsewhere: with any, make deletes all other generated files.
.SECONDARY:

comma := ,
ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin CXX)),)
CXX := g++
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
PKG_CONFIG ?= pkg-config
PROTOC_C   ?= protoc-c
SCDOC      ?= scdoc
# With a sanitizer: half as much to compile, and its reports still have lines. A fuzzer must be
# fast.
CFLAGS     ?= $(if $(findstring fuzzer,$(SANITIZE)),-O1 -g1,$(if $(SANITIZE),-O0 -g1,-O2 -g))

variant  = $(if $(1),$(subst $(comma),-,$(1)),plain)$(if $(findstring clang,$(CC)),-clang)
VARIANT := $(call variant,$(SANITIZE))
BUILD   ?= build
B       := $(BUILD)/$(VARIANT)
# For a shell, in double quotes: the path of this tree may have blanks, which abspath would part.
FULL_B   = $(if $(filter /%,$(B)),$(B),$$PWD/$(B))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
	    -Wformat=2 -Wpointer-arith -Wwrite-strings -Wold-style-definition \
	    -Wno-unused-parameter -Werror=incompatible-pointer-types -Werror=int-conversion \
	    -Werror=implicit-function-declaration $(if $(WERROR),-Werror)
HARDEN   := $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	    -fno-omit-frame-pointer)

BASE_CPPFLAGS = -D_GNU_SOURCE -DOMIG_VERSION='"$(VERSION)"' -I. -I$(B)/gen $(CPPFLAGS)
# Hidden by default: the symbols that a shared library exports have a visibility macro.
BASE_CFLAGS   = -std=c17 $(CFLAGS) $(HARDEN) $(SANFLAGS) -fPIC -pthread -fno-common \
		-fvisibility=hidden
BANNED       := -include common/base/banned.h
OUR_CFLAGS    = $(BASE_CPPFLAGS) $(BASE_CFLAGS) $(WARNINGS) $(BANNED)
BASE_LDFLAGS  = $(SANFLAGS) -pthread -Wl,--as-needed -Wl,-z,relro -Wl,-z,now $(LDFLAGS)

say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(patsubst $(B)/%,%,$@)';)
