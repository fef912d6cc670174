"""Files that belong together are all put into a directory or none, and never out of it."""

import os
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

from analysis.inputs import files
from analysis.pages import publish

OLD = {"manifest.json": b"old", "report.html": b"old", "figures/one.svg": b"old"}
NEW = {**{name: b"new" for name in OLD}, "figures/wide/two.svg": b"new", "tables/a.tex": b"new"}


def files_of(directory):
    """Path to content of all that is in it."""
    found = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


class Publish(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name) / "outside"
        self.outside.mkdir()
        self.directory = Path(folder.name) / "run"
        self.fresh()

    def fresh(self):
        """The directory with the old files."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        publish.publish(self.directory, OLD)

    def killed(self, name, calls):
        """Publishes in another process, which is killed at that call of a function of `os`;
        whether it came so far."""
        process = os.fork()
        if not process:
            real, left = getattr(os, name), [calls]

            def counted(*arguments):
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                return real(*arguments)

            setattr(os, name, counted)
            try:
                publish.publish(self.directory, NEW)
            finally:
                os._exit(0)
        return os.WIFSIGNALED(os.waitpid(process, 0)[1])

    def test_killed(self):
        """killed at any step, all old files stay or, once they are settled, all new ones are there"""
        allowed = {
            "mkdir": [OLD, NEW],
            "fsync": [OLD, NEW],
            "rename": [OLD],
            "replace": [NEW],
            "rmdir": [NEW],
        }
        for name, states in allowed.items():
            steps = 0
            while self.killed(name, steps):
                with self.subTest(function=name, step=steps):
                    publish.settle(self.directory)
                    self.assertIn(files_of(self.directory), states)
                self.fresh()
                steps += 1
            self.assertGreater(steps, 0)
            self.fresh()

    def refused(self, place, words, call):
        """The call is refused by the name of that place, and changes nothing."""
        before = files_of(self.directory)
        with self.assertRaisesRegex(OSError, words) as caught:
            call()
        self.assertEqual(caught.exception.filename, str(self.directory / place))
        self.assertEqual(files_of(self.directory), before)
        self.assertEqual(list(self.outside.iterdir()), [])
        self.assertFalse((self.directory / publish.STAGE).exists())

    def test_link(self):
        """a folder that is a link is refused by name, and nothing is written through it"""
        for place in ("figures", "tables", "figures/wide"):
            self.fresh()
            shutil.rmtree(self.directory / place, ignore_errors=True)
            (self.directory / place).symlink_to(self.outside)
            with self.subTest(place=place):
                self.refused(place, "is a link", lambda: publish.publish(self.directory, NEW))

    def test_kinds(self):
        """a folder in place of a file, or a file in place of a folder, is refused by name"""
        for place, make, words in (
            ("report.html", Path.mkdir, "a folder is in its place"),
            ("tables", Path.touch, "is no folder"),
            ("figures/wide", Path.touch, "is no folder"),
        ):
            self.fresh()
            (self.directory / place).unlink(missing_ok=True)
            make(self.directory / place)
            with self.subTest(place=place):
                self.refused(place, words, lambda: publish.publish(self.directory, NEW))

    def test_file_link(self):
        """a file that is a link is replaced, and what it led to stays"""
        target = self.outside / "kept"
        target.write_bytes(b"kept")
        (self.directory / "report.html").unlink()
        (self.directory / "report.html").symlink_to(target)
        publish.publish(self.directory, NEW)
        self.assertEqual(files_of(self.directory), NEW)
        self.assertEqual(target.read_bytes(), b"kept")

    def test_next(self):
        """what counts as an unfinished report but is a file or a link is refused by name"""
        for make in (Path.touch, lambda path: path.symlink_to(self.outside)):
            self.fresh()
            make(self.directory / publish.NEXT)
            self.refused(publish.NEXT, "is (no folder|a link)", lambda: publish.settle(self.directory))

    def test_remove(self):
        """nothing is removed through a link"""
        (self.outside / "one.svg").write_bytes(b"kept")
        shutil.rmtree(self.directory / "figures")
        (self.directory / "figures").symlink_to(self.outside)
        files.remove(self.directory, ["figures/one.svg", "report.html"])
        self.assertTrue((self.outside / "one.svg").exists())
        self.assertFalse((self.directory / "report.html").exists())

    def test_settle_link(self):
        """nor is an unfinished report put into place through a link"""
        self.assertTrue(self.killed("replace", 0))
        shutil.rmtree(self.directory / "figures")
        (self.directory / "figures").symlink_to(self.outside)
        self.refused("figures", "is a link", lambda: publish.settle(self.directory))


if __name__ == "__main__":
    unittest.main()
