#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completions of bash, zsh and fish: commands, subcommands, options, values and metrics, as the
# shell itself shows them. The tests of a shell that is not installed are skipped with a message.
# timeout: 90
. tests/system/lib.sh

at=$B/share
in_bash() { # LINE WANT: one of the words
	# shellcheck disable=SC2016 # bash's own
	bash -c 'source "$1"; read -ra COMP_WORDS <<<"$2"
	[[ $2 == *" " ]] && COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _omig; printf "%s\n" "${COMPREPLY[@]}"' \
		- "$at/omig.bash" "$1" >"$TMPDIR/words"
	grep -Fx -- "$2" "$TMPDIR/words" || { head -n 20 "$TMPDIR/words"; return 1; }
}
in_fish() { # LINE WANT
	# shellcheck disable=SC2016 # fish's own
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$at/omig.fish" "$1" \
		>"$TMPDIR/words" 2>"$TMPDIR/words.err"
	[ ! -s "$TMPDIR/words.err" ] || { head "$TMPDIR/words.err"; return 1; }
	cut -f1 "$TMPDIR/words" | grep -Fx -- "$2" || { head -n 20 "$TMPDIR/words"; return 1; }
}
# A terminal of its own, as zsh completes only there: the line and a tab are typed, and the list, or
# the completed line, is read until WANT is there.
cat >"$TMPDIR/zsh.py" <<'END'
import os, pty, re, select, sys, time
script, line, want = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.environ.update(TERM="dumb", PS1="ready> ", COLUMNS="200")
    os.execvp("zsh", ["zsh", "-f", "-i"])
seen = b""
def read(until, seconds):
    global seen
    end = time.monotonic() + seconds
    while not re.search(until, seen) and time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 65536)
    return re.search(until, seen)
patience = 10 * int(os.environ["PATIENCE"])
read(rb"ready> ", patience)
seen = b""
os.write(fd, ("autoload -Uz compinit; compinit -D -u; LISTMAX=0; setopt no_always_last_prompt; "
              "source '%s'; echo rea''dy2\n" % script).encode())
read(rb"ready2\r", patience)
seen = b""
# The completed line is run as words of echo. The list is printed above it.
os.write(fd, (line + "\t\x01echo DO''NE: \n").encode())
read(rb"\nDONE: [^\r]*\r", patience)
ok = re.search(rb"(?<![\w-])" + re.escape(want.encode()) + rb"(?![\w-])", seen) or \
    re.search(rb"\nDONE: [^\r]*(?<=[ =])" + re.escape(want.encode()) + rb"[ \r]", seen)
if not ok:
    sys.stdout.write(seen.decode(errors="replace"))
os.close(fd)
os.kill(pid, 9)
os.waitpid(pid, 0)
sys.exit(0 if ok else 1)
END
in_zsh() { # LINE WANT
	python3 "$TMPDIR/zsh.py" "$at/omig.zsh" "$1" "$2"
}
all_commands() { # SHELL: each command has its words
	for c in $(omig --omig-commands | cut -f1); do
		case $1 in
		bash) grep -q "^	$c) words=" "$at/omig.bash" ;;
		zsh) grep -q "^	$c) items=" "$at/omig.zsh" ;;
		fish) grep -q "__omig_is $c' " "$at/omig.fish" ;;
		esac || { echo "nothing of $c"; return 1; }
	done
}
for shell in bash zsh fish; do
	check "$shell: all commands are there" all_commands $shell
	typist=$shell
	[ $shell != zsh ] || typist=python3
	if ! command -v $shell >/dev/null || ! command -v $typist >/dev/null; then
		skip "$shell completes" "$shell is not here: its script is not tried"
		continue
	fi
	check "$shell reads the script" $shell -n "$at/omig.$shell"
	while IFS='|' read -r line want; do
		check "$shell: '$line' has $want" in_$shell "$line" "$want" </dev/null
	done <<END
omig cer|cert
omig cert tok|token
omig events t|tail
omig admin dr|drain
omig neko comp|compare
omig model exp|experiment
omig sim gr|growth
omig cert --expi|--expiring
omig measure Send_vol|Send_volume
omig calls --by par|partner
omig top --sort cp|cpu
omig log --to chr|chrome
omig help stac|stacks
END
done
tap_end
