# SPDX-License-Identifier: Apache-2.0
"""Values of results as Python's: run by tests/system/tools/python.sh."""
import math
import random
import unittest

import omig
from omig import Token, format_value, parse_values


class Values(unittest.TestCase):
    def test_each_kind(self):
        self.assertEqual(parse_values(b'1,-7,0x1f,017,10UL,\'a\',"x",n_1,3#a\0b,[],[1,[2]]'),
                         [1, -7, 31, 15, 10, 97, "x", "n_1", b"a\0b", [], [1, [2]]])
        self.assertIsInstance(parse_values(b"n_1")[0], Token)
        self.assertEqual(parse_values(b" 1.5 , .5,1e-3,1.5f,0x1.8p3,-inf,inf"),
                         [1.5, 0.5, 0.001, 1.5, 12.0, -math.inf, math.inf])
        self.assertTrue(math.isnan(parse_values(b"nan")[0]))
        self.assertEqual(parse_values(b""), [])
        self.assertEqual(parse_values("-9223372036854775808"), [-1 << 63])

    def test_strings_with_escapes_of_c(self):
        self.assertEqual(parse_values(rb'"a \"b\"\n\x41\101\u20ac\U0001F600\\"'), ['a "b"\nAA\u20ac\U0001F600\\'])
        self.assertEqual(parse_values(b'"\xc3\xa9\\377"'), ["\u00e9\udcff"])

    def test_hostile_texts_are_refused(self):
        for text in (b"1,", b",1", b"1 2", b"[1", b"1]", b"[" * 17 + b"]" * 17, b'"a', b'"a\n"', b'"\\q"', b'"\\x"',
                     b'"\\x100"', b'"\\400"', b'"\\u12"', b'"\\ud800"', b'"\\U00110000"', b'"\\0"', b'"\0"', b"'ab'", b"''",
                     b"4#abc", b"99999999999999999999#", b"-1#a", b"0x", b"08", b"1e", b"1e999", b"1.5.5", b"9223372036854775808",
                     b"1_000", b"--1", b"+-1", b"word", b"_a", b"a_", b"1" * 200, b"$proc", b"(", b"\xff", b"f(1)"):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, "."):
                parse_values(text)

    def test_the_deepest_list_is_read(self):
        self.assertIsInstance(parse_values(b"[" * 16 + b"]" * 16), list)

    def test_noise_gives_values_or_a_value_error(self):
        chance = random.Random(1)
        for _ in range(20000):
            text = bytes(chance.choice(b'[]",\\x0#19.e+-n_1\' \0\xff') for _ in range(chance.randrange(12)))
            try:
                parse_values(text)
            except ValueError:
                pass

    def test_what_is_written_reads_back(self):
        values = [0, -5, 1.5, -math.inf, "", 'q"\\\n\u00e9\x01', "\udcff", b"", b"\0#,", Token("p_1_a"), [], [1, ["x", [b"y"]]]]
        self.assertEqual(parse_values(b",".join(map(format_value, values))), values)
        for bad in (None, {}, object()):
            with self.assertRaises(TypeError):
                format_value(bad)
        with self.assertRaises(ValueError):
            format_value("a\0b")


class Statuses(unittest.TestCase):
    def test_errors_have_names(self):
        e = omig.StatusError(25, "gone", ["p_1"])
        self.assertEqual((e.status, e.code, str(e)), ("UNKNOWN_OBJECT", 25, "UNKNOWN_OBJECT: p_1: gone"))


if __name__ == "__main__":
    unittest.main()
