# SPDX-License-Identifier: Apache-2.0
# awk -v allow=mk/prose.allow [-v part=1] -f mk/prose.awk FILE...: prints what is wrong with
# comments, documents and strings, as `FILE<TAB>FILE:LINE: what`; FILE is a key of mk/ratchet/prose.
#   words      of mk/prose.words, `any more`, and `is no` for `is not a`: in comments, in documents,
#              in strings of two words or more that are not a test's, and in what scripts say or
#              check; those of mk/prose.docs in documents alone, where docs/glossary.md has the word
#              to use
#   columns    more than 100, but for tables, code and addresses in documents, and single literals
#              of C or words of the shell
#   headings   `--- NAME.c` in a header of a folder without that file
#   fragments  comments in C that begin with `What`, `Whatever`, `Whether`, `Wherever` or `Which`
#   sentences  of more than 20 words, in comments and documents; a line of a comment with a run of
#              blanks in it is a table
# mk/prose.allow has `FILE PHRASE # reason` a line: what a document may say, because persons do it.
BEGIN {
	while ((getline line <"mk/prose.words") > 0)
		for (i = split(line, w, " "); i; i--) banned[w[i]] = 1
	while ((getline line <"mk/prose.docs") > 0)
		for (i = split(line, w, " "); i; i--) replaced[w[i]] = 1
	while ((getline line <allow) > 0) {
		sub(/[ \t]*#.*/, "", line)
		if (!match(line, /^[^ ]+ /)) continue
		allow_file[++nallow] = substr(line, 1, RLENGTH - 1)
		allow_phrase[nallow] = plain(substr(line, RLENGTH + 1))
	}
	string = "^\"([^\"\\\\]|\\\\.)*\""
	quoted = substr(string, 2)
	one_literal = "^([ \t]*|#[ \t]*define .*)(\\{ |[a-z_]+\\()?(\\.[a-z_]+ = )?" \
		quoted "[ ,;)}\\\\]*$"
	one_word = "^[ \t]*(-[a-zA-Z]+ )?[^ '\"]*('[^']*'|" quoted ")[^ '\"]*( [|&;\\\\]+)?$"
	letter = "^'([^'\\\\]|\\\\.)*'"
	two = "[A-Za-z][^ ]* ([^ ]* )*[^ ]*[A-Za-z]"
	said = "^[ \t]*(check|skip|verdict|echo|say) "
}

function found(line, what) { printf "%s\t%s:%d: %s\n", file, file, line, what }

# Its words, small, with one blank around each.
function plain(text) {
	text = " " tolower(text) " "
	gsub(/`[^`]*`/, " ` ", text)
	gsub(/[^a-z0-9_`]+/, " ", text)
	return text
}

function words(text, is_doc, i, at, n, w) {
	text = plain(text)
	for (i = 1; is_doc && i <= nallow; i++)
		if (allow_file[i] == file)
			while ((at = index(text, allow_phrase[i])) > 0) {
				text = substr(text, 1, at) "` " \
					substr(text, at + length(allow_phrase[i]))
				is_used[i] = 1
			}
	n = split(text, w, " ")
	for (i = 1; i <= n; i++) {
		if (w[i] in banned || is_doc && file !~ /glossary/ && w[i] in replaced)
			found(FNR, "the word `" w[i] "`")
		if (w[i] == "more" && last_word == "any") found(FNR, "the words `any more`")
		if (i > 3 && w[i - 1] == "no" && w[i - 2] ~ /^(is|are)$/ && w[i - 3] != "there" &&
		    w[i] !~ /^(longer|more|less|later|problem|news|`)$/)
			found(FNR, "`is no " w[i] "`, where `is not a` is meant")
		last_word = w[i]
	}
}

function columns(line, n, i, at, part) {
	if (line ~ /\t/) {
		n = split(line, part, "\t")
		for (i = 1; i < n; i++) at += 8 - (at + length(part[i])) % 8 + length(part[i])
		at += length(part[n])
	} else
		at = length(line)
	if (at > 100) at -= gsub(/[\200-\277]/, "", line)
	return at
}
function narrow(line) {
	if (length(line) > 50 && columns(line) > 100 && line !~ /:\/\//)
		found(FNR, "more than 100 columns")
}

function word_of(text) {
	sub(/^[ \t]*/, "", text)
	return substr(text, 1, index(text, " ") - 1)
}
function sentence_end() {
	if (count > 20) found(begun, "a sentence of " count " words")
	count = 0
}
# One line of a comment, without its marks.
function comment(text, i, n, w) {
	last_word = ""
	words(text)
	sub(/^[ \t]*\*( |$)/, " ", text)
	if (begins && text ~ /[A-Za-z0-9]/) {
		begins = 0
		if (match(text, /^[ \t]*[Ww](hat|hether|hich|hatever|herever) /))
			found(FNR, "a comment that begins with `" word_of(text) "`")
	}
	if (text ~ /^[ \t]*$|^(   |\t)|[^ .][ \t][ \t]|SPDX-/) { sentence_end(); return }
	if (text ~ /^ ?[-*] /) sentence_end()
	n = split(text, w, /[ \t]+/)
	for (i = 1; i <= n; i++) {
		if (w[i] !~ /[A-Za-z0-9]/) continue
		if (!count++) begun = FNR
		if (w[i] ~ /[.;:?!][])"'`]*$/) sentence_end()
	}
}

# One line of a document. Code, also over lines, is one word; addresses of links are none. A list's
# item begins a sentence.
function doc(text, i, n, w) {
	if (text ~ /^[ \t]*([-*]|[0-9]+\.) /) sentence_end()
	if (text ~ /^ *\||^#|^\t|^@/) { sentence_end(); return }
	n = split(text, w, "`")
	text = ""
	for (i = 1; i <= n; i++) {
		text = text (!in_span ? w[i] : i < n ? "X" : "")
		if (i < n) in_span = !in_span
	}
	gsub(/\]\([^)]*\)/, "]", text)
	n = split(text, w, /[ \t]+/)
	for (i = 1; i <= n; i++) {
		if (w[i] !~ /[A-Za-z0-9]/) continue
		if (!count++) begun = FNR
		if (w[i] ~ /[.;:?!][])"'`*_]*$/) sentence_end()
	}
}

# The first word of the shell in this text, when it is quoted; names of variables are not prose.
function quotation(text) {
	if (!match(text, text ~ /^'/ ? "^'[^']*'" : string)) return
	text = substr(text, 2, RLENGTH - 2)
	gsub(/\$(\{[^}]*\}|\([^)]*\)|[a-zA-Z_0-9]+)/, "X", text)
	last_word = ""
	words(text)
}

function c_line(rest, at, text, is_alone, n, w) {
	is_alone = 1
	if (!in_comment && rest !~ /^[ \t]*\/\//) sentence_end()
	for (;;) {
		if (in_comment) {
			at = index(rest, "*/")
			comment(at ? substr(rest, 1, at - 1) : rest)
			if (!at) return
			in_comment = 0
			sentence_end()
			rest = substr(rest, at + 2)
		}
		if (!match(rest, /["']|\/\/|\/\*/)) return
		text = substr(rest, RSTART, 2)
		rest = substr(rest, RSTART)
		if (text == "//") { comment(substr(rest, 3)); return }
		if (text == "/*") {
			in_comment = begins = 1
			rest = substr(rest, 3)
			continue
		}
		if (!match(rest, substr(text, 1, 1) == "\"" ? string : letter)) return
		if (!is_test && text ~ /^"/) {
			text = substr(rest, 2, RLENGTH - 2)
			last_word = ""
			if (text ~ two)
				words(text)
		}
		rest = substr(rest, RLENGTH + 1)
	}
}

# `--- NAME.c`: what follows in this header is defined in that file beside it.
function heading(name, path, line) {
	sub(/^.*--- /, "", name)
	sub(/\.c.*/, ".c", name)
	path = file
	sub(/[^\/]*$/, name, path)
	if ((getline line <path) < 0) found(FNR, "a heading with `" name "`, which is not here")
	close(path)
}

FNR == 1 {
	sentence_end()
	file = FILENAME
	sub(/^\.\//, "", file)
	is_test = file ~ /^tests\//
	in_comment = begins = is_code = in_span = 0
	kind = file ~ /\.[ch]$/ ? "c" : file ~ /\.md$|\.scd$/ ? "doc" : "script"
	is_scd = file ~ /\.scd$/
}
kind == "c" && /^[ \t]*\/?\* --- [a-z_0-9]+\.c/ { heading($0) }
kind == "c" {
	if ($0 !~ one_literal) narrow($0)
	if (in_comment || /["\/]/) c_line($0)
	else if (count) sentence_end()
	next
}
kind == "script" {
	if ($0 !~ one_word) narrow($0)
	if (/^[ \t]*#( |$)/) { text = $0; sub(/^[ \t]*#/, "", text); comment(text); next }
	if (count) sentence_end()
	if (match($0, said)) quotation(substr($0, RLENGTH + 1))
	if (match($0, /[ \t]# [^'"]*$/)) { comment(substr($0, RSTART + 2)); sentence_end() }
	next
}
/^ *```/ { is_code = !is_code; sentence_end(); next }
is_code || /^(    |\t)/ && !is_scd && !count || is_scd && /^;/ { next }
/^ *$/ { last_word = ""; in_span = 0; sentence_end() }
{
	if (!/^ *\|/ && !(is_scd && /^[][|:]/)) narrow($0)
	words($0, 1)
	doc($0)
}
END {
	sentence_end()
	file = allow
	for (i = 1; i <= nallow && !part; i++)
		if (!is_used[i]) found(0, "nothing says `" allow_phrase[i] "` in " allow_file[i])
}
