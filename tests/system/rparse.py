# SPDX-License-Identifier: Apache-2.0
"""Parses a file in the part of R that omig writes: comments, assignments of calls, named arguments,
strings, numbers, NA, TRUE and FALSE. Evaluates c(), list() and data.frame() by R's rules: all
columns of a data frame have one length, and c() has one type of values beside NA.

    rparse.py FILE NAME...      prints the columns or names of these objects
"""
import re
import sys

TOKEN = re.compile(r'\s*(?:#[^\n]*\n\s*)*(?:("(?:[^"\\\n]|\\["\\ntu])*")|(<-)|([-]?[0-9]+(?:\.[0-9]*)?'
                   r'(?:e[-+]?[0-9]+)?)|([A-Za-z.][A-Za-z0-9._]*)|([(),=]))')


class Parser:
    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self):
        m = TOKEN.match(self.text, self.at)
        return m

    def take(self, want=None):
        m = self.peek()
        if not m or (want and m.group().strip().split('\n')[-1].strip() != want):
            line = self.text.count('\n', 0, self.at) + 1
            raise SystemExit(f'line {line}: expected {want}: {self.text[self.at:self.at + 40]!r}')
        self.at = m.end()
        return m

    def next_is(self, word):
        m = self.peek()
        return m and (m.group(2) == word or m.group(5) == word)

    def value(self):
        m = self.take()
        string, _, number, name, _ = m.groups()
        if string is not None:
            return re.sub(r'\\(.)', r'\1', string[1:-1])
        if number is not None:
            return float(number)
        if name in ('NA', 'TRUE', 'FALSE'):
            return {'NA': None, 'TRUE': True, 'FALSE': False}[name]
        if name not in ('c', 'list', 'data.frame'):
            raise SystemExit(f'unknown name {name}')
        return self.call(name)

    def call(self, name):
        self.take('(')
        args = []
        while not self.next_is(')'):
            key, start = None, self.at
            m = self.take()
            if (m.group(1) or m.group(4)) and self.next_is('='):
                self.take('=')
                key = re.sub(r'\\(.)', r'\1', m.group(1)[1:-1]) if m.group(1) else m.group(4)
            else:
                self.at = start
            args.append((key, self.value()))
            if not self.next_is(')'):
                self.take(',')
        self.take(')')
        return {'c': vector, 'list': named, 'data.frame': frame}[name](args)


def vector(args):
    assert all(key is None for key, _ in args)
    values = [v for _, v in args]
    assert len({type(v) for v in values if v is not None}) <= 1, values
    return values


def named(args):
    assert all(key for key, _ in args), args
    assert len({key for key, _ in args}) == len(args), 'a name twice'
    return dict(args)


def frame(args):
    options = {'check.names', 'stringsAsFactors', 'row.names'}
    columns = named([a for a in args if a[0] not in options])
    assert len({len(v) for v in columns.values()}) <= 1, 'columns of several lengths'
    return columns


def parse(text):
    p, out = Parser(text), {}
    while p.peek():
        m = p.take()
        assert m.group(4), m.group()
        p.take('<-')
        out[m.group(4)] = p.value()
    assert not re.sub(r'#[^\n]*|\s', '', text[p.at:]), text[p.at:p.at + 40]
    return out


if __name__ == '__main__':
    objects = parse(open(sys.argv[1], encoding='utf-8').read())
    for name in sys.argv[2:]:
        print(name, *objects[name])
