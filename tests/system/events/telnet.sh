#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Figure 3 of TR COSC 01/91 with the programs of today: telnet, telnetd, csh and date. The newline
# behind "date" is the source. The network has the four processes of the figure, the fork of date,
# and its join with the shell.
. tests/system/lib.sh
need python3 mkfifo tcsh
PATH=$PATH:/usr/sbin
telnet=$(command -v inetutils-telnet || command -v telnet) || skip_all 'telnet is not here'
need telnetd
case $("$telnet" --version 2>&1) in
*inetutils*) ;;
*) skip_all 'this telnet is not that of inetutils' ;;
esac
cd "$TMPDIR" || exit 1
mkfifo keys

# telnetd gives its shell no variables: so env is there.
cat >inetd.py <<'END'
import os, socket, sys
telnet, telnetd, shell = sys.argv[1:]
l = socket.socket()
l.bind(("127.0.0.1", 0))
l.listen()
client = os.fork()
if not client:
    os.dup2(os.open("keys", os.O_RDONLY), 0)
    os.execv(telnet, ["telnet", "127.0.0.1", str(l.getsockname()[1])])
s, _ = l.accept()
l.close()
server = os.fork()
if not server:
    for fd in (0, 1): os.dup2(s.fileno(), fd)
    env = " ".join(v + "=" + os.environ[v] for v in ("LD_PRELOAD", "OMIG_IO"))
    os.execv(telnetd, [telnetd, "-h", "-E", "/usr/bin/env " + env + " " + shell + " -f"])
s.close()
os.waitpid(client, 0)
os.waitpid(server, 0)
END
PS1='' omig run --interactions=run.olog -- python3 inetd.py "$telnet" "$(command -v telnetd)" \
	"$(command -v tcsh)" >job.out 2>job.err &
job=$!
exec 3>keys
check 'the shell has a prompt' until_true 30 grep -q '[#%>] *$' job.out
echo date >&3
check 'date prints' until_true 30 grep -Eq '[0-9]:[0-9]{2}:[0-9]{2}' job.out
sed -n '/date/,$p' job.out >after
echo exit >&3
exec 3>&-
check 'the session ends' wait $job
check 'its log can be analysed' sh -c \
	'omig interaction analyze --json --request outside run.olog >net.json 2>net.err'
figure_3() {
	cat net.err
	python3 - <<'P'
import json
all = json.load(open("net.json"))
all = all.get("networks", [all])
def program(v): return v.rsplit(".", 1)[0]
n = [n for n in all if any(program(a[1]) == "date" for a in n.get("arcs", []))]
assert len(n) == 1, [x["name"] for x in all]
n = n[0]
print(n["counts"], n["b_arcs"])
pairs = set((program(a), program(b)) for a, b in n["arcs"])
ends = [a for a in n["arcs"] if program(a[0]) == "date" and program(a[1]) in ("exit", "message")]
assert n["counts"]["source"] == 1 and not n["anomalies"]
assert ("telnet", "telnetd") in pairs and ("telnetd", "tcsh") in pairs, pairs
assert ("tcsh", "date") in pairs, pairs # the fork
assert ("date", "telnetd") in pairs or ends, pairs # its output, by the terminal
joins = [b for a, b in n["arcs"] if a in [e[1] for e in ends]]
assert any(program(j) == "tcsh" for j in joins), (ends, joins)
P
}
check 'the network of date is that of the figure' figure_3
tap_end
