"""The exit status of the command `report`: the gate's, and with --claims that of the claims."""

import io
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from analysis import report
from claims_fixture import ratio, write_claimed

IMMEDIATE, COALESCE = ("epoll@loopback", "immediate", 8), ("epoll@loopback", "coalesce", 8)
# Coalescing is worth 5 x, give or take little.
NUMBERS = {IMMEDIATE: [100e3, 101e3, 99e3], COALESCE: [495e3, 505e3, 500e3]}
SUPPORTED, CONTRADICTED = ratio(at_least=4), ratio(name="more", at_least=9)
UNDECIDED = ratio(name="just", at_least=5)


def status(claims, *flags):
    """(exit status, errors) of the report on a run of which that is claimed; it writes no files."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_claimed(Path(folder) / "run", NUMBERS, claims)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            with mock.patch.object(report, "outputs", return_value={}):
                return report.main([str(path), *flags]), err.getvalue()


class Status(unittest.TestCase):
    def test_with_claims(self):
        """With --claims it is 0 if all are supported, 1 if one is contradicted, else 2"""
        for claims, expected in (
            ([SUPPORTED], 0),
            ([SUPPORTED, UNDECIDED], 2),
            ([SUPPORTED, UNDECIDED, CONTRADICTED], 1),
            (None, 0),
        ):
            found, said = status(claims, "--claims")
            self.assertEqual(found, expected, said)
            self.assertEqual(bool(said), expected > 0)
        self.assertIn("claim just undecided", status([UNDECIDED], "--claims")[1])

    def test_without(self):
        """Without --claims a contradicted claim changes nothing"""
        self.assertEqual(status([CONTRADICTED]), (0, ""))

    def test_gate_first(self):
        """A gate that does not pass decides, whatever the claims are"""
        found, said = status([CONTRADICTED], "--claims", "--gate", "point")
        self.assertEqual(found, 2, said)
        self.assertIn("No two variants ran", said)
        self.assertNotIn("claim", said)


if __name__ == "__main__":
    unittest.main()
