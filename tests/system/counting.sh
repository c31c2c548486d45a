# SPDX-License-Identifier: Apache-2.0
# A tool of its own, $TMPDIR/counting: see counting_tool.c. For scripts behind lib.sh.
mkdir -p "$TMPDIR/include" && ln -sfn "$PWD/tools/libomis" "$TMPDIR/include/omig" || exit 1
# shellcheck disable=SC2086 # CC may have options
${CC:-cc} -Wall -Wextra -Werror -I"$TMPDIR/include" -o "$TMPDIR/counting" \
	tests/system/counting_tool.c \
	-L"$B/lib" -lomis -Wl,-rpath,"$B/lib" || exit 1
