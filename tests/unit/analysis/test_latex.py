"""The LaTeX tables: what they say, and that LaTeX reads it; by pdflatex where there is one."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from analysis.inputs.load import load_result
from analysis.judgement.study import study
from analysis.pages import latex
from result_fixture import all_cells, write_result, write_small_result

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def tables_of(write, *arguments, **options):
    """Name to text of a synthetic run's tables."""
    with tempfile.TemporaryDirectory() as folder:
        made = latex.files(study(load_result(write(Path(folder) / "run_1", *arguments, **options))))
    return {name: content.decode() for name, content in made.items()}


def body(text):
    """The rows between the rules, as cells."""
    rows = text.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
    return [row.removesuffix(r" \\").split(" & ") for row in rows]


def faults(text):
    """What LaTeX would not read, line by line."""
    found = []
    columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1])
    for line in text.splitlines():
        if line.startswith("%"):
            continue
        bare = re.sub(r"\\[\\&%$#_{}]|\$\^\{\d+\}\$|\$\\mu\$", "", line)
        if re.search(r"[$#_^~%]", bare):
            found.append(f"special: {line}")
        bare = re.sub(r"\\[a-z]+", "", bare)
        if "\\" in bare or bare.count("{") != bare.count("}"):
            found.append(f"braces: {line}")
        if line.endswith(r"\\") and "multicolumn" not in line and bare.count("&") != columns - 1:
            found.append(f"cells: {line}")
    return found


class Escaped(unittest.TestCase):
    def test_special(self):
        """each character that LaTeX takes for a command is printed as itself"""
        for text, wanted in (
            ("a_b & 50 % of $1 #2 {x}", r"a\_b \& 50 \% of \$1 \#2 \{x\}"),
            ("p99 µs", r"p99 $\mu$s"),
            ("~^\\", r"\textasciitilde{}\textasciicircum{}\textbackslash{}"),
            ('<a|b> "c"', r"\textless{}a\textbar{}b\textgreater{} ''c''"),
            ("two\nlines\ttabs", "two lines tabs"),
            ("日本\x07", "???"),
        ):
            self.assertEqual(latex.escaped(text), wanted)


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tables_of(write_result)

    def test_files(self):
        """a run that compares has both tables, one of a single cell has cells alone"""
        self.assertEqual(set(self.made), {"tables/cells.tex", "tables/verdicts.tex"})
        self.assertEqual(set(tables_of(write_small_result)), {"tables/cells.tex"})

    def test_structure(self):
        """every row has its cells, braces balance, nothing special stands bare"""
        for name, text in self.made.items():
            self.assertEqual(faults(text), [], name)
            for rule in ("\\toprule", "\\midrule", "\\bottomrule"):
                self.assertEqual(text.count(rule), 1)

    def test_faults_are_seen(self):
        """the check of the structure finds what it is for"""
        whole = "\\begin{tabular}{lr}\na & 1 \\\\\n"
        self.assertEqual(faults(whole), [])
        for bad in ("a & 1 & 2 \\\\", "a_b & 1 \\\\", "a} & 1 \\\\", "50 % & 1 \\\\"):
            self.assertEqual(len(faults(whole + bad + "\n")), 1, bad)

    def test_comments(self):
        """above each table stand a caption, what speaks against the run, and which size fits"""
        for text in self.made.values():
            above = text.split("\\begin")[0].splitlines()
            self.assertTrue(all(line.startswith("% ") for line in above))
            self.assertTrue(above[0].startswith("% Caption: The "))
            self.assertIn("degraded host: ", " ".join(above[1:]))
            self.assertIn("booktabs", above[-1])

    def test_cells(self):
        """a row a cell; units stand in the head; a percentile says that it is merged"""
        text = self.made["tables/cells.tex"]
        self.assertEqual(len(body(text)), 12)
        self.assertEqual(body(text)[0][:4], ["epoll@loopback", "immediate", "1", "3/3"])
        head = text.split("\\toprule\n")[1].split("\\midrule")[0]
        self.assertEqual(head.count("merged"), 2)
        self.assertEqual(head.count("$\\mu$s"), 4)

    def test_verdicts(self):
        """a row a comparison, with a word, a ratio within its interval, p and n"""
        rows = body(self.made["tables/verdicts.tex"])
        self.assertEqual(len(rows), 20)
        words = {row[3] for row in rows}
        self.assertLessEqual(words, {"better", "worse", "equivalent", "inconclusive"})
        self.assertIn("better", words)
        for row in rows:
            low, high = map(float, row[5].split(" to "))
            self.assertTrue(low <= float(row[4]) <= high, row)
            self.assertRegex(row[6], r"^(\\textless\{\}0\.0001|[01](\.\d+)?)$")
            self.assertEqual(row[7], "3 runs")

    def test_unknown(self):
        """an unknown number is n/a, its reason beneath, once"""
        cells = [cell for cell in all_cells() if cell["depth"] == 8]
        made = tables_of(write_result, runs=1, cells=cells)
        for name, text in made.items():
            self.assertEqual(faults(text), [], name)
        self.assertIn("n/a$^{1}$", made["tables/verdicts.tex"])
        note = r"$^{1}$ a side has one sample only} \\"
        self.assertEqual(made["tables/verdicts.tex"].count(note), 1)
        self.assertIn("one sample only", made["tables/cells.tex"])

    @unittest.skipUnless(shutil.which("pdflatex"), "pdflatex is not installed")
    def test_compiles(self):
        """a document with booktabs alone takes the tables in"""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.made.items():
                Path(folder, Path(name).name).write_text(text)
            inputs = "\n\n".join(rf"\input{{{Path(name).name}}}" for name in self.made)
            Path(folder, "paper.tex").write_text(DOCUMENT % inputs)
            done = subprocess.run(
                ["pdflatex", "-halt-on-error", "-interaction=batchmode", "paper.tex"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=120,
            )
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
