#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds a violation of a rule with a ratchet, and checks that the gate reports it. Then lists it in
# the ratchet, which is accepted. Then repairs it, and checks that the gate reports the stale entry.
. tests/house/part.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
t=$work/t
n=0

# A copy of two rooms without any deviation, and with an empty ratchet.
fresh() {
	rm -rf "$t"
	mkdir -p "$t/common/base" "$t/common/ring" "$t/tests" "$t/docs"
	cp -r mk "$t" && rm -f "$t"/mk/ratchet/* && : >"$t/mk/prose.allow"
	cp .clang-format "$t"
	cp common/base/banned.h "$t/common/base"
	printf '# Text\n' >"$t/docs/text.md"
	printf 'MODULES += common/base\ncommon/base.src := ground.c\n' >"$t/common/base/module.mk"
	printf \
		'MODULES += common/ring\ncommon/ring.src := a.c b.c\ncommon/ring.uses := common/base\n' \
		>"$t/common/ring/module.mk"
	printf 'int ground(void);\nint ring_a(void);\nint ring_b(void);\n' \
		>"$t/common/base/ground.h"
	body common/base/ground ground 0
	body common/ring/a ring_a 0
	body common/ring/b ring_b 'ring_a()'
	part_makefile "$t"
	: >"$t/tests/alloc_sweep.c"
	(cd "$t" && mk/check-prose "$work/found")
	grep -E "^(mk/|Makefile|common/base/banned.h)" "$work/found" | cut -f1 |
		sort | uniq -c | awk '{ print $2, $1 }' >"$t/mk/ratchet/prose"
}

# body FILE FUNCTION VALUE
body() {
	printf '#include "common/base/ground.h"\n\nint %s(void)\n{\n\treturn %s;\n}\n' "$2" "$3" \
		>"$t/$1.c"
}

run() {
	make -C "$t" BUILD="$work/b" "$@" >"$work/out" 2>&1
}

# allow LIST LINE
allow() { echo "$2" >"$t/mk/ratchet/$1"; }

# verdict NAME STATUS WANTED WORDS: the status is as wanted and the output has the words.
verdict() {
	n=$((n + 1))
	if { [ "$2" -eq 0 ] && [ "$3" = pass ]; } || { [ "$2" -ne 0 ] && [ "$3" = fail ] &&
		grep -q -- "$4" "$work/out"; }; then
		echo "ok $n - house: $1"
	else
		sed 's/^/# /' "$work/out" | tail -n 20
		echo "not ok $n - house: $1"
	fi
}

fresh
run check-circles check-names check-rooms check-size check-prose
verdict 'a clean tree passes' $? pass

body common/ring/a ring_a 'ring_b()'
run check-circles
verdict 'a circle of two files is found' $? fail \
	'^# common/ring/a.c common/ring/b.c: 1, where .* allows 0'
allow circles 'common/ring/a.c common/ring/b.c # one module'
run check-circles
verdict 'a circle with a reason passes' $? pass
body common/ring/a ring_a 0
run check-circles
verdict 'a circle that is no more must leave its list' $? fail \
	'has `common/ring/a.c common/ring/b.c # one module` where 0 is true'
run ratchet && [ ! -s "$t/mk/ratchet/circles" ]
verdict 'make ratchet takes it out' $? pass
# circle NAMES-AND-REASON: the room lists this circle of its files.
circle() {
	sed -i '/^# circle: /d' "$t/common/ring/module.mk"
	echo "# circle: $1" >>"$t/common/ring/module.mk"
}
body common/ring/a ring_a 'ring_b()'
circle 'a.c b.c: one module over two files'
run check-circles
verdict 'a circle that its room lists with a reason passes' $? pass
circle 'a.c b.c'
run check-circles
verdict 'a circle that its room lists without a reason is found' $? fail \
	'^# common/ring/a.c common/ring/b.c: 1, where .* allows 0'
circle 'a.c b.c c.c: one module over three files'
run check-circles
verdict 'a circle of other files than those that its room lists is found' $? fail \
	'^# common/ring/a.c common/ring/b.c: 1, where .* allows 0'
circle 'a.c b.c: one module over two files'
body common/ring/a ring_a 0
run check-circles
verdict 'a listed circle that is no more is found' $? fail \
	'^# no circle: common/ring/a.c common/ring/b.c: 1, where .* allows 0'
circle 'a.c b.c c.c d.c e.c f.c: one module over six files'
sed -i 's/a\.c b\.c$/a.c b.c c.c d.c e.c f.c/' "$t/common/ring/module.mk"
last=f
for i in a b c d e f; do
	printf 'int ring_%s(void);\nint ring_%s(void)\n{\n\treturn ring_%s();\n}\n' \
		$last $i $last >"$t/common/ring/$i.c"
	last=$i
done
run check-circles
verdict 'a circle of six files is found, also when its room lists it' $? fail \
	'^# common/ring/a.c common/ring/b.c .*common/ring/f.c: 1, where .* allows 0'
rm "$t"/common/ring/[c-f].c
sed -i '/^# circle: /d; s/a\.c b\.c c.*$/a.c b.c/' "$t/common/ring/module.mk"
body common/ring/b ring_b 'ring_a()'
body common/ring/a ring_a 'ground()'
body common/base/ground ground 'ring_a()'
allow circles 'across rooms: common/base/ground.c common/ring/a.c'
run check-circles
verdict 'a circle across rooms fails, also when it is listed' $? fail \
	'^not ok - circles across rooms'
run M=common/ring check-circles check-names check-rooms
verdict 'rules of the whole tree are skipped for a room' $? pass

fresh
body common/base/ground ground '0; }
int ring_a(void)
{
	return 0'
run check-names
verdict 'a name that two rooms define is found' $? fail \
	'ring_a is defined in common/base common/ring'
allow names ring_a
run check-names
verdict 'a listed name passes' $? pass
body common/base/ground ground 0
run check-names
verdict 'a name that collides no more must leave its list' $? fail 'has `ring_a` where 0 is true'

fresh
for i in $(seq 28); do : >"$t/common/ring/h$i.h"; done
run check-rooms
verdict 'a folder of 30 files passes' $? pass
: >"$t/common/ring/h29.h"
run check-rooms
verdict 'a folder of 31 files is found' $? fail '^# common/ring: 31, where .* allows 0'
allow rooms 'common/ring 31'
run check-rooms
verdict 'its count passes' $? pass
: >"$t/common/ring/h30.h"
run check-rooms
verdict 'one file more is found' $? fail 'common/ring: 32, where .* allows 31'
allow rooms 'common/ring 33'
run check-rooms
verdict 'a count that is too high is found' $? fail 'has `common/ring 33` where 32 is true'
run ratchet && grep -qx 'common/ring 32' "$t/mk/ratchet/rooms"
verdict 'make ratchet lowers it' $? pass

fresh
printf \
	'int ring_six(int a, int (*f)(int, int), char c[2],\n\t     int d, int e, int g);\n\nint ring_six(int a, int (*f)(int, int), char c[2],\n\t     int d, int e, int g)\n{\n\treturn 0;\n}\n' \
	>>"$t/common/ring/a.c"
run check-size
verdict 'a function of six parameters is found' $? fail \
	'a.c:12: 6 parameters, 5 is the limit: ring_six'
sed -i 's/, int g)/)/' "$t/common/ring/a.c"
run check-size
verdict 'one of five passes' $? pass
sed -i 's/, int e)/, int e, int g)/; s|^int ring_six(.*[^;]$|/* six: libc has as many */\n&|' \
	"$t/common/ring/a.c"
run check-size
verdict 'a reason excuses six' $? pass
allow parameters common/ring/a.c:ring_six
run check-size
verdict 'one that is excused must leave its list' $? fail \
	'has `common/ring/a.c:ring_six` where 0 is true'

# prose FILE LINE WORDS: this line in this file is found.
prose() {
	fresh
	printf '%s\n' "$2" >>"$t/$1"
	run check-prose
	verdict "$1: $3 is found" $? fail "$1:[0-9]*: $3"
}
prose common/ring/a.c '/* Whoever calls. */' 'the word `whoever`'
prose common/ring/a.c '/* one
 * that is told */' 'the word `told`'
prose common/ring/a.c '/* What the links send. */' 'a comment that begins with `What`'
prose common/ring/a.c 'int x; /* which is sent */' 'a comment that begins with `which`'
prose common/ring/a.c '/*
 * Whether one is sent.
 */' 'a comment that begins with `Whether`'
prose common/ring/a.c 'int x; // not any more' 'the words `any more`'
prose common/ring/a.c 'const char *s = "it tells %d";' 'the word `tells`'
prose common/ring/a.c 'const char *s = "none told";' 'the word `told`'
prose common/ring/a.c '// one two three four five six seven eight nine ten
// one two three four five six seven eight nine ten eleven.' 'a sentence of 21 words'
prose common/ring/a.c "int x; // $(printf '%093d' 0)" 'more than 100 columns'
prose mk/x.mk '# His.' 'the word `his`'
prose common/ring/a.c '/* It is no name. */' '`is no name`, where `is not a` is meant'
prose tests/x.sh 'true # nobody' 'the word `nobody`'
prose tests/x.sh 'check "nobody is there" true' 'the word `nobody`'
prose tests/x.sh "check 'it is \$told, and told' true" 'the word `told`'
prose tests/x.sh "	true $(printf '%088d' 0)" 'more than 100 columns'
prose docs/text.md 'It is made anew.' 'the word `anew`'
prose docs/text.scd 'A wish.' 'the word `wish`'
prose docs/text.md 'It has no news.' 'the word `news`'
prose docs/text.md 'One two three four five six seven eight nine ten
one two three four five six seven eight nine ten `one two` three.' 'a sentence of 22 words'

fresh
cat >>"$t/common/ring/a.c" <<'END'
// One two three four five six seven eight nine ten.
// One two three four five six seven eight nine ten.
/* Sends what is due. */
// Those whose name is chan_tell or `tell`, the 'ones', and news.
const char *s = "tell", c = '"';
const char *t = "the /* of anew(), who_is_it()";
# define LONG "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789
# 0123456789 0123456789"
int anew, who;
END
sed -i '/anew(), /d' "$t/common/ring/a.c"
cat >>"$t/docs/text.md" <<'END'
The command `tell who`, and https://example.org/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/01
END
printf '| a table of many columns | %088d |\n' 0 >>"$t/docs/text.md"
cat >>"$t/docs/text.md" <<'END'
```
who | tell
```
END
run check-prose
verdict 'names, code, tables and addresses are not prose' $? pass
printf '%s\n' 'The admin says who may do what.' >>"$t/docs/text.md"
printf '%s\n' 'docs/text.md says who may # a person' >"$t/mk/prose.allow"
run check-prose
verdict 'a phrase that is allowed passes' $? pass
sed -i '$d' "$t/docs/text.md"
run check-prose
verdict 'an allowed phrase that nothing says is found' $? fail \
	'nothing says ` says who may ` in docs/text.md'

fresh
run check-prose
verdict 'a tree without git has no subjects' $? pass
grep -q 'ok - subjects # SKIP' "$work/b/plain/check/prose.tap"
verdict 'that is reported' $? pass
commit() {
	git -C "$t" -c user.name=n -c user.email=e commit -q --allow-empty -m "$1"
}
# subject TEXT WORDS: a commit with this subject is refused with these words.
subject() {
	git -C "$t" reset -q --hard
	commit "$1"
	run check-prose
	verdict "the subject '$1' is refused" $? fail "$2"
	git -C "$t" reset -q --hard HEAD~1
}
git -C "$t" init -q && git -C "$t" add . && commit 'What was before.'
git -C "$t" rev-parse HEAD >"$t/mk/ratchet/subjects-from"
git -C "$t" add . && commit 'mk, docs/x: name the start'
run check-prose
verdict 'a subject of room, verb and object passes, and what was before is left out' $? pass
subject 'Name the start' 'not `room: verb object`'
subject 'mk: the start' '`the` is not an imperative verb'
subject 'mk: named the start' '`named` is not an imperative verb'
subject 'mk: tell the start' 'the word `tell`'
subject "mk: name $(printf '%060d' 0)" 'more than 60 characters'

if command -v clang-format-14 >/dev/null; then
	fresh
	run check-format
	verdict 'a tree as clang-format writes it passes' $? pass
	echo 'int  x;' >>"$t/common/ring/a.c"
	run check-format
	verdict 'a file that it changes is found' $? fail '^# common/ring/a.c: 1, where'
	run M=common/ring check-format
	verdict 'it is found in its room' $? fail '^# common/ring/a.c: 1, where'
	run check-format
	verdict 'it is found again, although nothing changed' $? fail '^# common/ring/a.c: 1, where'
	allow format common/ring/a.c
	run check-format
	verdict 'a listed file passes' $? pass
	sed -i '$d' "$t/common/ring/a.c"
	run check-format
	verdict 'a listed file that is mended must leave its list' $? fail \
		'has `common/ring/a.c` where 0 is true'

	# dialect WHAT OBJECTION BODY: BODY is of a function in common/ring/a.c.
	dialect() {
		printf 'int ring_a(void)\n{\n%b}\n' "$3" >"$t/common/ring/a.c"
		run check-format
		verdict "$1" $? "$([ -n "$2" ] && echo fail || echo pass)" "$2"
	}
	: >"$t/mk/ratchet/format"
	dialect 'a test of a result against 0 is refused' '`rc` is compared with 0' \
		'\tint rc = ground();\n\n\treturn rc < 0 ? rc : 1;\n'
	dialect 'a loop that borrows its variable is refused' '`i` is for loops only' \
		'\tint i, n = 0;\n\n\tfor (i = 0; i < 4; i++) {\n\t\tn += i;\n\t}\n\treturn n;\n'
	dialect 'a variable that outlives its loop passes' '' \
		'\tint i;\n\n\tfor (i = 0; i < 4; i++)\n\t\tground();\n\treturn i;\n'
	dialect 'a name for a person is refused' 'a name has the word `told`' \
		'\treturn ground_is_told();\n'
	dialect 'a division of sizes is refused' 'ARRAY_LEN counts' \
		'\tstatic const int v[4];\n\n\treturn (int)(sizeof(v) / sizeof(v[0]));\n'
else
	n=$((n + 1))
	echo "ok $n - house: layout # SKIP there is no clang-format-14"
fi

echo "1..$n"
