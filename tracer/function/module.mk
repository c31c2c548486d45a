# SPDX-License-Identifier: Apache-2.0
# tracer/function: functions of a program by name, and changes of their code for entry and exit.
MODULES                   += tracer/function
tracer/function.has_zydis := $(shell echo '\#include <Zydis/Zydis.h>' | \
		$(CC) -x c -E -o /dev/null - 2>/dev/null && echo y)
tracer/function.src       := symbols.c name.c function_code.c file_code.c elsewhere.c \
		entry.c inlined.c \
		$(if $(tracer/function.has_zydis),plan.c decode.c,plan_none.c)
tracer/function.not_built := $(if $(tracer/function.has_zydis),plan_none.c,plan.c decode.c)
tracer/function.pkgs      := libdw
tracer/function.libs      := -ldl $(if $(tracer/function.has_zydis),-lZydis)
tracer/function.uses      := common/base common/ring
