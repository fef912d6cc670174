"""What servers were given, and what TLS came of it, keeps results apart as settings do."""

import json
import tempfile
import unittest
from pathlib import Path

from analysis import compare, reproduce, trend
from analysis.figures import across, history
from analysis.inputs.documents import Refusal
from analysis.inputs.load import load_result
from analysis.judgement import refusals
from analysis.judgement.study import study
from analysis.pages import method
from compare_fixture import said, undrawn, write_at
from given_fixture import NEW, OLD, give, speak, tls_of
from result_fixture import edit_json, write_manifest, write_variants

ONE = '{"tls_max": "1.2", "limits": {"headers": 64}, "routes": [{"path": "/"}]}'
OTHER = (
    '{"tls_max": "1.3", "limits": {"headers": 64}, "routes": [{"path": "/", "match": "prefix"}]}'
)


class Two(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        undrawn(self, across)
        undrawn(self, history)
        self.base, self.new = (
            write_at(self.root / name, day, runs=3) for name, day in (("base", 1), ("new", 2))
        )

    def unlike(self):
        """(what, base, new) of each difference of the two."""
        found = refusals.between(load_result(self.base), load_result(self.new))
        self.assertTrue(all(one.instead for one in found))
        return [(one.what, one.a, one.b) for one in found]


class Files(Two):
    def test_config(self):
        """another configuration is refused with its name, both digests and the keys that differ"""
        give(self.base, {"server.json": ONE})
        give(self.new, {"server.json": OTHER})
        status, text = said(compare.main, self.base, self.new)
        self.assertEqual(status, 4)
        self.assertIn("Configuration of servers (server_config): server.json, SHA-256 ", text)
        digests = [load_result(path).given["server.json"].sha256 for path in (self.base, self.new)]
        self.assertIn(
            f'SHA-256 {digests[0][:12]} (tls_max "1.2", routes.0.match n/a (not set)) against'
            f' server.json, SHA-256 {digests[1][:12]} (tls_max "1.3", routes.0.match "prefix")',
            text,
        )
        self.assertNotIn("limits", text)

    def test_forced(self):
        """forced it stamps the page, and no line says that host and time are all that differs"""
        give(self.base, {"server.json": ONE})
        give(self.new, {"server.json": OTHER})
        status, text = said(compare.main, self.base, self.new, "--force")
        self.assertEqual(status, 0, text)
        stamp, first = text.splitlines()[:2]
        self.assertEqual(stamp, "Forced: not comparable (configuration of servers (server_config))")
        self.assertEqual(
            first,
            "Both sides are one program: what differs besides the host and the time:"
            " configuration of servers (server_config).",
        )

    def test_window_differs_besides_the_time(self):
        """another window is no refusal, but more than the host and the time"""
        plan = json.loads((self.new / "plan.json").read_text())
        edit_json(self.new / "plan.json", effective=plan["effective"] | {"duration": "10ms"})
        write_manifest(self.new)
        first = said(compare.main, self.base, self.new)[1].splitlines()[0]
        self.assertIn("besides the host and the time: another duration", first)

    def test_same_config(self):
        """the same configuration, under another name or written otherwise, is no difference"""
        give(self.base, {"server.json": ONE})
        for name, text in (("server.json", ONE), ("s.json", ONE), ("server.json", f" {ONE}\n")):
            with self.subTest(name=name, text=text):
                give(self.new, {name: text}, name)
                self.assertEqual(self.unlike(), [])

    def test_numbers_of_another_kind(self):
        """1 and true are not the same value, though Python says so"""
        give(self.base, {"server.json": '{"x": 1}'})
        give(self.new, {"server.json": '{"x": true}'})
        ((_, a, b),) = self.unlike()
        self.assertIn("(x 1)", a)
        self.assertIn("(x true)", b)

    def test_one_side_alone(self):
        """a configuration that one side alone has is a difference, and one of no known digest"""
        give(self.new, {"server.json": ONE})
        ((what, a, b),) = self.unlike()
        self.assertEqual((what, a), ("configuration of servers (server_config)", "n/a (not given)"))
        self.assertIn("server.json, SHA-256 ", b)
        give(self.base, {}, "server.json")
        ((_, a, _),) = self.unlike()
        self.assertEqual(a, "server.json, n/a (not recorded)")

    def test_served_files(self):
        """what routes serve counts byte for byte, text or not, and many files fill no page"""
        served = {f"www/{number}.txt": "a" for number in range(9)}
        give(self.base, {"server.json": ONE} | served)
        give(self.new, {"server.json": ONE} | served | {"www/3.txt": "b"})
        ((what, a, b),) = self.unlike()
        self.assertEqual(what, "file www/3.txt")
        self.assertEqual(a, "SHA-256 ca978112ca1b")
        self.assertEqual(b, "SHA-256 3e23e8160039")
        give(self.new, {"server.json": ONE} | dict.fromkeys(served, "b"))
        found = self.unlike()
        self.assertEqual(len(found), 6)
        self.assertEqual(found[-1], ("4 more files", "4 of them given", "4 of them given"))

    def test_served_json_written_otherwise(self):
        """a JSON file that is served is other bytes on the wire, whatever it means"""
        give(self.base, {"server.json": ONE, "www/a.json": "[1]"})
        give(self.new, {"server.json": ONE, "www/a.json": "[1] "})
        self.assertEqual([what for what, _, _ in self.unlike()], ["file www/a.json"])

    def test_reproduce(self):
        """a repetition says what servers were given otherwise, and else that it was looked at"""
        give(self.base, {"server.json": ONE})
        give(self.new, {"server.json": OTHER})
        text = said(reproduce.main, self.base, self.new)[1]
        self.assertRegex(
            text, r'\(server_config\): server.json, SHA-256 \w{12} \(tls_max "1.2", .* then, server'
        )
        give(self.new, {"server.json": ONE})
        text = said(reproduce.main, self.base, self.new)[1]
        self.assertIn("Nothing that is looked at", text)
        self.assertIn("what servers were given", text)

    def test_trend(self):
        """over another configuration no ratio is taken, and the page has both"""
        give(self.base, {"server.json": ONE})
        give(self.new, {"server.json": OTHER})
        text = said(trend.main, self.base, self.new)[1]
        self.assertIn("not comparable: configuration of servers (server_config)", text)
        page = (self.root / "trend" / "trend.md").read_text()
        self.assertRegex(page, r'tls_max "1.2".* before, .*tls_max "1.3".* from result 2 on')

    def test_outside(self):
        """a plan that names a file outside its directory, or none, is refused"""
        bad = [{"path": name, "sha256": "a"} for name in ("../x", "/x")]
        for entry in (*bad, {"path": "x"}):
            with self.subTest(entry=entry):
                edit_json(self.new / "plan.json", files=[entry])
                write_manifest(self.new)
                with self.assertRaises(Refusal):
                    load_result(self.new)

    def test_no_text(self):
        """a file that is no JSON, or no text at all, is known by its digest"""
        give(self.new, {"server.json": "{", "www/x": "x"})
        (self.new / "www/x").write_bytes(b"\xff\xfe")
        write_manifest(self.new)
        given = load_result(self.new).given
        self.assertEqual([one.content for one in given.values()], [None, None])


class Tls(Two):
    def test_told(self):
        """what a side was told of TLS is compared; null is the provider's default"""
        speak(self.base, lambda _: tls_of({NEW: 1}))
        speak(self.new, lambda _: tls_of({NEW: 1}, groups="X448", tickets=False))
        default = "the provider's default"
        expected = [("server's TLS groups", default, "X448"), ("server's TLS tickets", "on", "off")]
        self.assertEqual(self.unlike(), expected)

    def test_not_stated(self):
        """what one side does not state is not compared, as with settings"""
        speak(self.base, lambda _: tls_of({NEW: 1}))
        speak(self.new, lambda _: {"client": None, "client_reason": "the client did not say"})
        self.assertEqual(self.unlike(), [])

    def test_negotiated(self):
        """another version, cipher or group is refused, however it came about"""
        speak(self.base, lambda _: tls_of({OLD: 2}))
        speak(self.new, lambda _: tls_of({NEW: 3}))
        self.assertEqual(self.unlike(), [("negotiated TLS", OLD, NEW)])
        status, text = said(compare.main, self.base, self.new)
        self.assertEqual(status, 4)
        self.assertIn(f"Negotiated TLS: {OLD} against {NEW}", text)
        self.assertEqual(text.count("Negotiated TLS"), 1)

    def test_counts(self):
        """how many connections there were is no difference, nor what only warm-ups negotiated"""
        speak(self.base, lambda _: tls_of({NEW: 2}))
        tls = tls_of({NEW: 64})
        tls["server"]["negotiated"] = {NEW: 66, OLD: 1}
        speak(self.new, lambda _: tls)
        self.assertEqual(self.unlike(), [])

    def test_resumed(self):
        """resumption is a difference where one side always resumed and the other never did"""
        speak(self.base, lambda _: tls_of({NEW: 1}))
        speak(self.new, lambda _: tls_of({NEW: 1, f"{NEW} resumed": 63}))
        self.assertEqual(self.unlike(), [("resumed TLS sessions", "no", "yes")])
        first = {NEW: 1, f"{NEW} resumed": 63}
        speak(self.new, lambda result: tls_of({NEW: 64} if result["run"] else first))
        self.assertEqual(self.unlike(), [])

    def test_by_cell(self):
        """the difference is the cells' own: one cell that differs is enough, by any name"""
        speak(self.base, lambda _: tls_of({NEW: 1}))
        kinds = {"coalesce": {OLD: 1}, "immediate": {NEW: 1}}
        speak(self.new, lambda one: tls_of(kinds[one["cell"]["delivery"]]))
        self.assertEqual(self.unlike(), [("negotiated TLS", NEW, OLD)])


class Report(Two):
    def told(self):
        """(how it was measured, what speaks against the run) of the base."""
        of = study(load_result(self.base))
        caveats = [one.detail for one in of.caveats if one.what == "unlike TLS"]
        return method.method(of.result), caveats

    def test_negotiated(self):
        """a report tells once what TLS negotiated, with counts, where all cells have the same"""
        kinds = {NEW: 1, f"{NEW} resumed": 63}
        speak(self.base, lambda _: tls_of(kinds))
        lines, caveats = self.told()
        told = [line for line in lines if line.startswith("TLS as")]
        expected = f"{NEW} (6), {NEW} resumed (378), connections of 6 samples."
        self.assertEqual((told, caveats), ([f"TLS as it was negotiated: {expected}"], []))

    def test_sides_differ(self):
        """where the server counts others besides, both counts are told"""
        tls = tls_of({NEW: 2})
        tls["server"]["negotiated"] = {NEW: 3}
        speak(self.base, lambda _: tls)
        (told,) = [line for line in self.told()[0] if line.startswith("TLS as")]
        self.assertIn(f"client {NEW} (12); server {NEW} (18)", told)

    def test_cells_differ(self):
        """cells that negotiated otherwise are told apart, and it speaks against the run"""
        kinds = {"coalesce": {OLD: 1}, "immediate": {NEW: 1}}
        speak(self.base, lambda one: tls_of(kinds[one["cell"]["delivery"]]))
        lines, (caveat,) = self.told()
        told = [line for line in lines if line.startswith("TLS as")]
        self.assertEqual(len(told), 2)
        self.assertIn(f"negotiated in epoll@loopback.immediate.d8: {NEW} (3)", told[0])
        self.assertIn(f"{OLD} in epoll@loopback.coalesce.d8", caveat)

    def test_variants_differ(self):
        """variants that negotiated otherwise do not compare"""
        path = write_variants(self.root / "variants")
        kinds = {"base": {OLD: 1}, "new": {NEW: 1}}
        (self.root / "variants" / "manifest.sha256").unlink()
        speak(path, lambda one: tls_of(kinds[one["cell"]["variant"]]))
        told = study(load_result(path)).refused
        self.assertTrue(any(f"Negotiated TLS: {OLD} against {NEW}" in one for one in told), told)

    def test_config(self):
        """it names the configuration with its keys, and how many files it serves"""
        give(self.base, {"server.json": ONE, "www/a": "a"})
        (told,) = [line for line in self.told()[0] if line.startswith("Servers were given")]
        self.assertRegex(told, r"given server.json \(server_config\), SHA-256 \w{12}: tls_max")
        self.assertIn('limits.headers 64, routes.0.path "/". Besides it: 1 file that', told)

    def test_plain(self):
        """a run without TLS and without a configuration says nothing of them"""
        lines, caveats = self.told()
        self.assertFalse([one for one in lines if one.startswith(("TLS as", "Servers were"))])
        self.assertEqual(caveats, [])


if __name__ == "__main__":
    unittest.main()
