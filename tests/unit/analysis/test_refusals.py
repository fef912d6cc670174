"""What must not be compared is refused, with both values and what to do; what may be, is not."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from analysis.cells.aggregate import aggregate
from analysis.cells.pairing import pairs
from analysis.inputs.load import load_result
from analysis.judgement import refusals
from analysis.judgement.gate import Gate
from analysis.judgement.study import Study
from result_fixture import all_cells, write_result, write_variants

SHA = {"program_sha256": "c" * 64}


def loaded(write, *rest, **options):
    """A result of a fixture's writer."""
    with tempfile.TemporaryDirectory() as folder:
        return load_result(write(Path(folder) / "run", *rest, **options))


class Between(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = loaded(write_result, runs=1, cells=all_cells()[:1])

    def refused(self, **changes):
        """(what, a, b) of the result against itself with a file's keys changed."""
        other = {
            name: None if keys is None else getattr(self.result, name) | keys
            for name, keys in changes.items()
        }
        found = refusals.between(self.result, replace(self.result, **other))
        self.assertTrue(all(one.instead for one in found))
        return [(one.what, one.a, one.b) for one in found]

    def test_same(self):
        """A result compares with itself"""
        self.assertEqual(refusals.between(self.result, self.result), [])

    def test_host(self):
        """Another host, processor, count of cores, kernel or governor is refused by name"""
        for key, what, a in (
            ("hostname", "host", "bench"),
            ("cpu_model", "processor", "synthetic"),
            ("kernel", "kernel", "6.1.0"),
            ("cores_allowed", "cores", "n/a (not recorded)"),
            ("governor", "governor", "n/a (not recorded)"),
        ):
            with self.subTest(key=key):
                self.assertEqual(self.refused(host={key: "other"}), [(what, a, "other")])

    def test_reasons_of_unknown_facts_do_not_count(self):
        """What neither host knows is no difference, whatever the reasons"""
        self.assertEqual(self.refused(host={"governor_reason": "another"}), [])

    def test_unknown_host(self):
        """A result without host.json compares with no other, not even its like"""
        words = [what for what, _, _ in self.refused(host=None)]
        self.assertEqual(words, ["host", "processor", "kernel"])
        bare = replace(self.result, host=None)
        self.assertEqual([one.what for one in refusals.between(bare, bare)], ["host"])

    def test_tls_provider(self):
        """Another TLS library is refused by its side, where both results speak TLS"""

        def under(**providers):
            tls = {side: {"on": True, "provider": name} for side, name in providers.items()}
            samples = [replace(one, raw=one.raw | {"tls": tls}) for one in self.result.samples]
            return replace(self.result, samples=samples)

        old, new = "OpenSSL 3.0.16", "OpenSSL 3.5.0"
        one = under(server=old, client=old)
        self.assertEqual(refusals.between(one, one), [])
        (found,) = refusals.between(one, under(server=new, client=old))
        self.assertEqual((found.what, found.a, found.b), ("server's TLS provider", old, new))
        found = refusals.between(one, under(server=new, client=new))
        self.assertEqual(len(found), 2)
        self.assertEqual(refusals.between(one, self.result), [])

    def test_build(self):
        """Another build type, sanitizer or assertions is refused"""
        for key, value, expected in (
            ("build_type", "debug", ("build type", "release", "debug")),
            ("sanitizers", "address", ("sanitizers", "none", "address")),
            ("assertions", True, ("assertions", "n/a (not recorded)", "yes")),
        ):
            with self.subTest(key=key):
                self.assertEqual(self.refused(build={key: value}), [expected])

    def test_client_by_its_bytes(self):
        """Where both know the client's bytes these decide, whatever the commits"""
        one = replace(self.result, build=self.result.build | {"client": SHA})
        same = replace(one, build=one.build | {"git_commit": "1" * 40})
        self.assertEqual(refusals.between(one, same), [])
        other = replace(one, build=one.build | {"client": {"program_sha256": "d" * 64}})
        (found,) = refusals.between(one, other)
        self.assertEqual(found.what, "client revision")
        self.assertEqual(found.a, f"{'0' * 40}, program {'c' * 12}")
        self.assertIn(found.a, found.sentence)

    def test_client_by_its_commit(self):
        """Elsewhere the commit does, and what was not committed counts as another"""
        found = self.refused(build={"git_commit": "1" * 40})
        self.assertEqual(found, [("client revision", "0" * 40, "1" * 40)])
        found = self.refused(build={"git_dirty": True, "git_diff_sha256": "e" * 64})
        self.assertEqual(found[0][2], f"{'0' * 40} with uncommitted changes {'e' * 64}")
        self.assertEqual(self.refused(build={"git_commit": None})[0][2], "n/a (not recorded)")

    def test_degraded(self):
        """A host without a core for the operating system is not one with"""
        self.assertEqual(
            self.refused(plan={"degraded": False}), [("degraded flag", "yes", "no")]
        )

    def test_schema(self):
        """Facts of another schema are refused"""
        found = self.refused(host={"schema": "weir.host/2"})
        self.assertEqual(found, [("schema of host.json", "weir.host/1", "weir.host/2")])

    def test_machines(self):
        """Of several hosts each is looked at, by its name"""
        hosts = {"server": {"name": "one", "facts": {"kernel": "6.1.0"}}}
        several = replace(self.result, hosts=hosts)
        (found,) = refusals.between(self.result, several)
        self.assertEqual((found.what, found.b), ("set of machines", "server one"))
        other = {"server": {"name": "one", "facts": {"kernel": "6.2.0"}}}
        (found,) = refusals.between(several, replace(self.result, hosts=other))
        self.assertEqual((found.what, found.a, found.b), ("server one's kernel", "6.1.0", "6.2.0"))


class Within(unittest.TestCase):
    def refused(self, **settings):
        """Of the first pair, whose new cell ran with these settings."""

        def change(result, client):
            if result["cell"]["variant"] == "new":
                result["cell"].update(settings)

        result = loaded(write_variants, change)
        found = refusals.within(pairs(aggregate(result))[0], result.build)
        return [(one.what, one.a, one.b) for one in found]

    def test_alike(self):
        """Two commits with the same settings compare"""
        self.assertEqual(self.refused(), [])

    def test_server_settings_may_differ(self):
        """What a variant sets of its server is what is compared"""
        self.assertEqual(self.refused(stack="uring@loopback", wait="spin"), [])

    def test_path(self):
        """TLS against plain is not the same path, nor is another protocol"""
        found = self.refused(tls=True, protocol="http1")
        self.assertEqual(found, [("TLS", "off", "on"), ("protocol", "framed", "http1")])

    def test_client(self):
        """A client that is told otherwise is another client"""
        found = self.refused(connections=8, client_wait="spin")
        expected = [
            ("client wait", "n/a (not recorded)", "spin"),
            ("client's connections", "64", "8"),
        ]
        self.assertEqual(found, expected)

    def test_builds_of_variants(self):
        """A debug build beside a release build is refused"""
        result = loaded(write_variants)
        build = result.build["variants"]["new"] | {"build_type": "debug"}
        variants = result.build["variants"] | {"new": build}
        pair = pairs(aggregate(result))[0]
        (found,) = refusals.within(pair, result.build | {"variants": variants})
        self.assertEqual((found.what, found.a, found.b), ("build type", "release", "debug"))
        other = replace(result, build=result.build | {"variants": variants})
        (found,) = refusals.between(result, other)
        self.assertEqual(found.what, "variant new's build type")

    def test_meant_builds(self):
        """a build that the variant's own options ask for is what is compared"""
        for options, refused in (("-Dbuildtype=debug", False), ("-During=disabled", True)):
            result = loaded(write_variants, variants={"base": {}, "new": {"options": options}})
            build = result.build["variants"]["new"] | {"build_type": "debug", "assertions": True}
            variants = result.build["variants"] | {"new": build}
            other = replace(result, build=result.build | {"variants": variants})
            found = refusals.of_pairs(other, pairs(aggregate(other)))
            self.assertEqual(bool(found), refused, found)

    def test_gate(self):
        """a stated gate over TLS beside plain is refused, even if the variant sets it so, and the
        page says why; a client's setting that a variant sets is what is compared"""
        for setting, word, status in (("tls", "refused", 4), ("client_wait", "fail", 1)):
            variants = {"base": {}, "new": {"set": {setting: True}}}

            def change(result, client, setting=setting):
                if result["cell"]["variant"] == "new":
                    result["cell"].update({setting: True})

            result = loaded(write_variants, change, variants=variants)
            of = Study(result, aggregate(result), Gate("point"))
            self.assertEqual((of.gate.word, of.gate.exit_status), (word, status))
            told = [one.detail for one in of.caveats if one.what == "not comparable"]
            self.assertEqual(any("TLS: off against on" in one for one in told), word == "refused")
        unsaid = loaded(write_variants, change)
        self.assertEqual(Study(unsaid, aggregate(unsaid), Gate("point")).gate.word, "refused")

    def test_cells_without_a_valid_sample(self):
        """What has no valid sample may not know its settings, and is not judged by them"""
        result = loaded(write_variants)
        one, other = aggregate(result).cells[:2]
        other.settings["tls"] = True
        self.assertEqual([found.what for found in refusals.cells(one, other)], ["TLS"])
        other.samples = []
        self.assertEqual(refusals.cells(one, other), [])


if __name__ == "__main__":
    unittest.main()
