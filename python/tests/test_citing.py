"""bibtex-generation: its rules by hand, its data, its service, and its grader on hostile tools."""

import json
import random
import shutil
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from fake_harness import Graded, run_grader
from support import TASKS, FolderTest, get, prepare, running_service, task_modules

TASK = TASKS / "bibtex-generation"
scoring, papers, paragraphs = task_modules("bibtex-generation", "scoring", "papers", "paragraphs")

PAPERS = [
    {"identity": "A", "title": "On {Big} Trees", "doi": "10.5555/a", "arxiv": "2031.00001"},
    {"identity": "B", "title": "Élan vital", "doi": "10.5555/b", "arxiv": "2031.00002"},
]
CORPUS = scoring.Corpus(PAPERS)
SENTENCES = ["Trees grow.", "Vigour helps.", "We agree."]
NEEDED = [["A"], ["B"], []]
BIBTEX = """
@article{a, title = {On Big Trees}, author = "A {\\"u}ber" , year = 2020,}
@misc{b,
  doi = {https://doi.org/10.5555/B}
}
"""


def score(cited: str, bibtex: str = BIBTEX) -> float:
    return scoring.score_paragraph(SENTENCES, NEEDED, cited, bibtex, CORPUS)


class Rules(unittest.TestCase):
    def test_all_correct_scores_1_wherever_in_its_sentence_a_citation_is(self) -> None:
        self.assertEqual(score("Trees~\\cite{a} grow. Vigour helps \\citep{b}. We agree."), 1)
        self.assertEqual(score("Trees grow. \\citet{a}\nVigour  helps.\\cite{b} We agree."), 1)

    def test_the_right_paper_in_the_wrong_place_counts_half(self) -> None:
        # Which: 2*2/(2+2) = 1. Where: of (1,A), (1,B) and (0,A), (1,B) one is right: 2*1/(2+2).
        self.assertEqual(score("Trees grow. Vigour \\cite{a,b} helps. We agree."), (1 + 0.5) / 2)

    def test_missing_and_wrong_citations_count_alike(self) -> None:
        # Which: 2*1/(1+2). Where: the same.
        self.assertAlmostEqual(score("Trees \\cite{a} grow. Vigour helps. We agree."), 2 / 3)
        # Both right and one without an entry: 2*2/(3+2).
        cited = "Trees \\cite{a} grow. Vigour \\cite{b} helps. We \\cite{c} agree."
        self.assertAlmostEqual(score(cited), 4 / 5)
        self.assertAlmostEqual(score(cited, BIBTEX + "@misc{c, title = {Another}}"), 4 / 5)

    def test_citing_nothing_scores_0_and_citing_everything_everywhere_nearly_0(self) -> None:
        self.assertEqual(score("Trees grow. Vigour helps. We agree."), 0)
        entries = "".join(f"@misc{{k{n}, title = {{Paper {n}}}}}\n" for n in range(200))
        keys = ",".join(["a", "b", *(f"k{n}" for n in range(200))])
        everywhere = f"Trees \\cite{{{keys}}} grow. Vigour \\cite{{{keys}}} helps. We agree."
        self.assertLess(score(everywhere, BIBTEX + entries), 0.02)

    def test_a_key_that_is_cited_very_often_is_looked_up_once(self) -> None:
        entry = f"@misc{{k, title = {{{'a' * 100_000}}}}}"
        keys = ",".join(["k"] * 40_000)
        # Each look-up takes some milliseconds.
        self.assertEqual(score(f"Trees \\cite{{{keys}}} grow. Vigour helps. We agree.", entry), 0)

    def test_a_changed_text_or_broken_entries_are_0(self) -> None:
        good = "Trees \\cite{a} grow. Vigour \\cite{b} helps. We agree."
        for cited in (good.replace("grow", "grew"), good + " Indeed.", good[:-10], "\\cite{a}", ""):
            self.assertEqual(score(cited), 0, cited)
        for bibtex in (
            "@article{a, title = {x}",
            "@misc{a, title {x}}",
            BIBTEX + "@misc{a, x = 1}",
        ):
            self.assertEqual(score(good, bibtex), 0, bibtex)

    def test_a_paper_that_is_cited_twice_by_two_keys_counts_once(self) -> None:
        bibtex = BIBTEX + "@misc{a2, eprint = {arXiv:2031.00001v3}}"
        self.assertEqual(
            score("Trees \\cite{a,a2} grow. Vigour \\cite{b} helps. We agree.", bibtex), 1
        )

    def test_an_entry_whose_identifiers_name_different_papers_names_none(self) -> None:
        self.assertEqual(CORPUS.find({"title": "on big trees!"}), "A")
        self.assertEqual(CORPUS.find({"title": "{\\em Elan} Vital"}), "B")
        self.assertEqual(CORPUS.find({"doi": "doi:10.5555/A", "eprint": "2031.00001"}), "A")
        self.assertIsNone(CORPUS.find({"title": "On Big Trees", "doi": "10.5555/b"}))
        self.assertIsNone(CORPUS.find({"title": "On Big Trees", "doi": "10.5555/none"}))
        self.assertIsNone(CORPUS.find({"author": "A"}))

    def test_bibtex_is_read_as_it_is_written(self) -> None:
        text = 'about: @book{k:1/x, Title="A {"}quoted{"} {Word}" , year = 1999 } then @misc{m,}'
        self.assertEqual(
            scoring.parse_bibtex(text),
            {"k:1/x": {"title": 'A {"}quoted{"} {Word}', "year": "1999"}, "m": {}},
        )
        for broken in ("@", "@misc{}", "@misc{a, b}", '@misc{a, b = "c}', "@misc{a, b = {c}} d}@"):
            with self.assertRaises(scoring.Unreadable):
                scoring.parse_bibtex(broken)


class Data(unittest.TestCase):
    def test_both_tasks_make_their_papers_in_the_same_way(self) -> None:
        for name in ("papers.py", "vocabulary.py"):
            other = TASKS / "literature-review-tool" / "hidden" / name
            self.assertEqual((TASK / "hidden" / name).read_bytes(), other.read_bytes())

    def test_identifiers_are_unique_and_reveal_nothing_about_the_facts_of_a_paper(self) -> None:
        made = papers.make_papers(random.Random(1), 200)
        for field in ("identity", "title", "doi", "arxiv"):
            self.assertEqual(len({getattr(paper, field).lower() for paper in made}), 200)
        # Of those in the same place modulo the number of problems, hardly any share a problem.
        serials: dict[int, set[str]] = {}
        for paper in made:
            serials.setdefault(int(paper.arxiv[-5:]) % 20, set()).add(paper.problem)
        self.assertGreater(min(len(problems) for problems in serials.values()), 1)

    def test_a_sentence_refers_to_the_papers_that_it_needs_and_no_others(self) -> None:
        generator = random.Random(2)
        made = papers.make_papers(generator, 480)
        writer = paragraphs.Writer(generator, made)
        for _ in range(20):
            written = writer.paragraph("crops")
            needed = [paper for sentence in written for paper in sentence.papers]
            self.assertTrue(3 <= len(needed) <= 10)
            self.assertEqual(len(needed), len(set(needed)))
            self.assertEqual(written[0].papers, [])


HONEST = """
import json, os, socket
from urllib.parse import quote

def cite(paragraph):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["MLAB_SERVICES"] + "/search.sock")
    path = "/graph/v1/paper/search?limit=1&fields=title&query=" + quote(paragraph)
    connection.sendall(f"GET {path} HTTP/1.0\\r\\n\\r\\n".encode())
    answer = b""
    while part := connection.recv(65536):
        answer += part
    (paper,) = json.loads(answer.split(b"\\r\\n\\r\\n", 1)[1])["data"]
    return {
        "paragraph": paragraph + " \\\\cite{x}",
        "bibtex": "@misc{x, title = {" + paper["title"] + "}}",
    }
"""
HOSTILE = {
    "nothing": ("def cite(paragraph):\n    return None\n", "wrong_output"),
    "numbers": ("def cite(paragraph):\n    return {'paragraph': 1, 'bibtex': 2}\n", "wrong_output"),
    "nan": ("def cite(paragraph):\n    return float('nan')\n", "wrong_output"),
    "raises": ("def cite(paragraph):\n    raise SystemExit(0)\n", "crashed"),
    "huge": ("def cite(paragraph):\n    return {'bibtex': '@' * 10**6}\n", "wrong_output"),
    "leaves": ("import os\ndef cite(paragraph):\n    os._exit(0)\n", "crashed"),
}


class Grading(FolderTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prepared = Path(temporary.name)
        prepare("bibtex-generation", cls.prepared)

    def grade(self, **sources: str) -> Graded:
        for name in ("public", "private"):
            shutil.copytree(self.prepared / name, self.folder / name)
        declaration = {
            "metric": {"name": "score", "unit": "fraction", "direction": "maximize"},
            "submission": {
                "description": "",
                "files": [{"format": "python", "path": "tool.py", "defines": ["cite"]}],
                "max_mb": 4,
            },
        }
        self.write("task.json", json.dumps(declaration))
        for name, source in sources.items():
            self.write(f"submissions/{name}/tool.py", source)
        script = TASK / "hidden" / "search_service.py"
        with running_service(script, self.folder, "search") as services:
            return run_grader(
                TASK / "hidden" / "grade.py", self.folder, module="tool.py", services=services
            )

    def test_an_honest_tool_gets_its_score_and_hostile_ones_none(self) -> None:
        graded = self.grade(
            honest=HONEST,
            silent="def cite(paragraph):\n    return {'paragraph': paragraph, 'bibtex': ''}\n",
            **{name: source for name, (source, _) in HOSTILE.items()},
        )
        self.assertEqual(graded.exit_code, 0, graded.errors)
        self.assertTrue(0.01 < graded.results["honest"]["score"] < 0.3, graded.results["honest"])
        self.assertEqual(graded.results["silent"]["score"], 0)
        for name, (_, code) in HOSTILE.items():
            result = graded.results[name]
            self.assertFalse(result["valid"], name)
            self.assertEqual(result["problems"][0]["code"], code, (name, result))

    def test_the_service_returns_papers_and_nothing_else(self) -> None:
        with running_service(TASK / "hidden" / "search_service.py", self.prepared, "s") as place:
            socket = place / "s.sock"
            fields = "title,abstract,authors,year,venue,externalIds"
            status, body = get(
                socket, f"/graph/v1/paper/search?query=graph%20networks&limit=2&fields={fields}"
            )
            answer = json.loads(body)
            self.assertEqual((status, answer["offset"], answer["next"]), (200, 0, 2))
            self.assertEqual(set(answer["data"][0]), {"paperId", *fields.split(",")})
            paper = answer["data"][0]["paperId"]
            self.assertEqual(get(socket, f"/graph/v1/paper/{paper}?fields=year")[0], 200)
            for path in (
                "/graph/v1/paper/search?query=",
                "/graph/v1/paper/search?query=a&limit=0",
                "/graph/v1/paper/search?query=a&limit=101",
                "/graph/v1/paper/search?query=a&offset=x",
                "/graph/v1/paper/search?query=a&fields=problem",
                f"/graph/v1/paper/search?query={quote('x' * 5000)}",
            ):
                status, body = get(socket, path)
                self.assertEqual((status, list(json.loads(body))), (400, ["error"]), path)
            for path in ("/", "/graph/v1/paper/../paragraphs.json", "/graph/v1/paper/none"):
                self.assertEqual(get(socket, path)[0], 404)

    def test_preparing_again_gives_the_same_result_and_shows_no_withheld_paragraph(self) -> None:
        again = self.folder / "again"
        prepare("bibtex-generation", again)
        for name in ("public/paragraphs.json", "private/paragraphs.json", "private/papers.json"):
            self.assertEqual((again / name).read_bytes(), (self.prepared / name).read_bytes())
        shown = (again / "public/paragraphs.json").read_text()
        hidden = json.loads((again / "private/paragraphs.json").read_text())
        cited = [s["text"] for each in hidden for s in each if s["papers"] and s["text"] in shown]
        self.assertLess(len(cited), 5)


if __name__ == "__main__":
    unittest.main()
