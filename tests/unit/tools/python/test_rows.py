# SPDX-License-Identifier: Apache-2.0
"""Rows of replies, also of hostile ones: run by tests/system/tools/python.sh."""
import random
import unittest

from omig import Entry, Reply, Rows, Row, Token, format_value
from omig._calls import KINDS, call_rows
from omig._measurement import Measurement
from omig._objects import Object, Objects

TREE = Objects([Object(Token("n_1"), Token("s_1"), "node1", "up"),
                Object(Token("p_1_a"), Token("n_1"), "heat", "run", 7, 0, 2, "heat.1"),
                Object(Token("p_1_b"), Token("n_1"), "heat", "ended", 8, 1, 2, "heat.1")])


class Silent:
    """Stands for the connection: names come from TREE, no request is sent."""
    is_open = False

    def names_of(self, token):
        o = TREE.find(token)
        return {"rank": o.rank if o else None, "host": TREE.host(o), "job": "", "program": ""}


def host(word, *rows):
    return [1, Token("n_1"), 2, 0, 0, 0, 0, 5, 5, word, 0, *rows]


def reply_of(*hosts):
    texts = [b",".join(format_value(v) for v in h) for h in hosts]
    return Reply([[], [Entry([Token("n_1")], 0, t) for t in texts]])


class Calls(unittest.TestCase):
    SEND = ["MPI_Send", "send", 10, 2 * 10**9, 0, 640, 0, 1, 10**9, 2]

    def test_hosts_are_joined(self):
        more = ["MPI_Send", "send", 5, 4 * 10**9, 0, 60, 0, 7, 3 * 10**9, 1]
        row, = call_rows(reply_of(host(6, self.SEND), host(6, more)), "call", "heat.1", TREE)
        self.assertEqual((row.calls, row.seconds, row.bytes_out, row.ranks), (15, 6.0, 700, 3))
        self.assertEqual((row.worst_rank, row.worst_seconds, row.mean), (7, 3.0, 0.4))

    def test_what_is_not_counted_is_none(self):
        row, = call_rows(reply_of(host(1, self.SEND)), "call", "heat.1", TREE)
        self.assertEqual((row.calls, row.seconds, row.bytes_out, row.worst_rank, row.mean), (10, None, None, None, None))

    def test_ranks_have_hosts(self):
        rank = [1, Token("p_1_b"), 1, 10, 10**9, 1, 2, 5, "MPI_Recv", 10**9]
        row, = call_rows(reply_of(host(6, rank)), "rank", "heat.1", TREE)
        self.assertEqual((row.rank, row.host, row.call, row.seconds), (1, "node1", "MPI_Recv", 1.0))

    def test_noise_gives_no_row_and_no_error(self):
        chance = random.Random(2)
        values = [0, -1, 2.5, "x", [], [1], Token("n_1"), self.SEND]
        for _ in range(2000):
            junk = [chance.choice(values) for _ in range(chance.randrange(16))]
            junk = junk[:9] + [chance.choice([0, 6, "x"])] + junk[10:] if len(junk) > 10 else junk
            for by in KINDS:
                try:
                    call_rows(reply_of(junk), by, "heat.1", TREE)
                except (TypeError, ValueError) as e:
                    self.fail(f"{e} for {junk}")


class Reads(unittest.TestCase):
    def read(self, *values, more=0):
        m, rows = Measurement(Silent(), Token("d_1"), "Send_volume", None, None), Rows()
        return m._take([6, 3, 99, more, 0, 0, *values], rows), rows

    def test_a_row_has_names_and_bounds(self):
        value = [Token("p_1_a"), 3, 640, 2, 0, 0, 0, 1, 2, "partial,missing", Token("p_1_b")]
        (is_whole, is_last), (row,) = self.read(value)
        self.assertTrue(is_whole and not is_last)
        self.assertEqual((row.rank, row.partner, row.host, row.value, row.error), (0, 1, "node1", 640.0, 2.0))
        self.assertEqual((row.k, row.n, row.flags, row.read, row.is_complete), (1, 2, ("partial", "missing"), 3, False))

    def test_without_contributors_the_value_is_none(self):
        _, (row,) = self.read([Token("p_1_a"), 3, 0, 0, 0, 0, 0, 0, 2, "missing"])
        self.assertEqual((row.value, row.error), (None, None))

    def test_a_read_of_several_parts_waits_for_the_last(self):
        self.assertFalse(self.read(more=1)[0][0])

    def test_a_histogram_has_buckets(self):
        _, (row,) = self.read([Token("p_1_a"), 3, [[0, 1, 5]], 0, 0, 0, 0, 1, 1, ""])
        self.assertEqual((row.value, row.buckets), (None, [[0, 1, 5]]))

    def test_a_value_of_an_object_has_its_rank(self):
        _, (row,) = self.read(["", 3, [[Token("p_1_a"), 5, 0], [Token("p_1_b"), 2.5, 1]], 1, 0, 0, 0, 2, 2, ""])
        self.assertEqual((row.value, row.buckets), (5.0, None))
        self.assertEqual([(o.rank, o.host, o.value, o.error) for o in row.objects],
                         [(0, "node1", 5.0, 0.0), (1, "node1", 2.5, 1.0)])

    def test_rows_become_columns(self):
        _, rows = self.read([Token("p_1_a"), 3, 1, 0, 0, 0, 0, 1, 1, ""])
        self.assertEqual(rows.columns, Row._fields)
        self.assertEqual(rows.to_dict()["value"], [1.0])
        self.assertEqual(Rows().to_dict(), {})


class Jobs(unittest.TestCase):
    def test_one_that_runs_is_meant(self):
        self.assertEqual(TREE.one_job(), "heat.1")
        self.assertEqual(TREE.jobs()[0].hosts, ("node1",))
        self.assertFalse(TREE.jobs()[0].has_ended)


if __name__ == "__main__":
    unittest.main()
