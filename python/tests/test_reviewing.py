"""literature-review-tool: its rules by hand, queries, service, and grader on hostile tools."""

import json
import shutil
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import quote

from fake_harness import Graded, run_grader
from support import TASKS, FolderTest, get, prepare, running_service, task_modules

TASK = TASKS / "literature-review-tool"
scoring, queries, papers = task_modules("literature-review-tool", "scoring", "queries", "papers")

ABSTRACT = (
    "Harvests matter to many people and are still foreseen badly by nearly all who try it. "
    "We bring boosted trees to bear on 512 fields. Errors fall by 37 percent."
)
PAPERS = {
    "2031.00001": {
        "title": "Boosted trees foresee harvests",
        "abstract": ABSTRACT,
        "authors": ["Ada Falk"],
        "year": 2020,
    },
    "2031.00002": {
        "title": "Kernels on old fields",
        "abstract": "Kriging serves harvests on 700 old fields. Accuracy rises by 9 points.",
        "authors": ["Bo Wu"],
        "year": 2021,
    },
    "2031.00003": {
        "title": "Deep rivers",
        "abstract": "Rivers flood villages often. Errors fall by 5 percent.",
        "authors": ["Cy Hsu"],
        "year": 2019,
    },
}
ASPECTS = [
    {"names": ["gradient boosting", "boosted trees"], "papers": ["2031.00001"]},
    {"names": ["Gaussian processes", "kriging"], "papers": ["2031.00002"]},
]
FINDINGS = {"2031.00001": 37, "2031.00002": 9}
FIRST = (
    "Falk (2020) lets boosted trees foresee harvests: errors fall by 37 percent (arXiv:2031.00001)."
)
SECOND = "Wu gains 9 points of accuracy by kriging on old fields, arXiv:2031.00002v1."
THIRD = "Rivers flood villages often, and errors fall (arXiv:2031.00003)."
INVENTED = "Falk cures 99 percent of boosted trees, harvests and errors (arXiv:2031.00001)."


def report(*sentences: str) -> str:
    return "\n".join(
        ["# T", "", "## A", "", *sentences, "", "## B", "", "## Conclusion", "", "Done."]
    )


def score(*sentences: str) -> float:
    return scoring.score_report(report(*sentences), ASPECTS, FINDINGS, PAPERS)


def grounded(text: str) -> bool:
    (sentence,) = scoring.sentences_of(text)
    return scoring.is_grounded(sentence, PAPERS)


class Rules(unittest.TestCase):
    def test_a_complete_report_without_anything_else_scores_1(self) -> None:
        self.assertAlmostEqual(score(f"- {FIRST}", f"- {SECOND}"), 1)
        self.assertAlmostEqual(score(f"{FIRST} {SECOND}"), 1)

    def test_each_part_is_counted(self) -> None:
        # F1 2*1/(1+2), one aspect of two, one finding of two.
        self.assertAlmostEqual(score(FIRST), (2 / 3 + 1 / 2 + 1 / 2) / 3)
        # One paper too many: F1 2*2/(3+2); the rest is whole.
        self.assertAlmostEqual(score(FIRST, SECOND, THIRD), (4 / 5 + 1 + 1) / 3)
        # Without its number, the second finding is missing.
        vague = "Wu gains points of accuracy by kriging on old fields (arXiv:2031.00002)."
        self.assertAlmostEqual(score(FIRST, vague), (1 + 1 + 1 / 2) / 3)
        # One of three sentences is made up, and adds nothing.
        self.assertAlmostEqual(score(FIRST, SECOND, INVENTED), 2 / 3)

    def test_a_paper_that_is_only_named_without_evidence_is_not_found(self) -> None:
        # One of two sentences, F1 2*1/(2+2): the second paper is cited, but wrong.
        bare = "See arXiv:2031.00002."
        self.assertAlmostEqual(score(FIRST, bare), 1 / 2 * (2 / 4 + 1 / 2 + 1 / 2) / 3)

    def test_a_sentence_is_grounded_by_words_numbers_and_existing_papers(self) -> None:
        self.assertTrue(grounded(FIRST))
        self.assertFalse(grounded(INVENTED))
        self.assertFalse(grounded(FIRST.replace("2031.00001", "2031.09999")))
        self.assertFalse(grounded("Quantum sheep jump over purple moons (arXiv:2031.00001)."))
        self.assertFalse(grounded("Boosted trees foresee harvests (arXiv:2031.00001)."))
        # The year and the words of titles are known.
        self.assertFalse(grounded(FIRST.replace("2020", "2021")))
        # A number of one paper is not a number of another.
        self.assertFalse(grounded(FIRST.replace("37", "9")))

    def test_more_than_twelve_words_in_a_row_are_a_copy(self) -> None:
        opening = ABSTRACT.split(". ")[0]
        self.assertFalse(grounded(f"{opening} (arXiv:2031.00001)."))
        twelve = " ".join(opening.split()[:12])
        self.assertTrue(grounded(f"{twelve} harvests, trees, errors (arXiv:2031.00001)."))
        self.assertEqual(scoring.longest_run(list("abcde"), list("xbcdy")), 3)
        self.assertEqual(scoring.longest_run([], ["a"]), 0)

    def test_reports_that_game_the_rules_gain_little(self) -> None:
        ids = " ".join(f"arXiv:{identity}" for identity in PAPERS)
        self.assertEqual(
            score(f"Boosted trees, kriging, harvests, errors, fields: {ids} arXiv:2031.9999."), 0
        )
        stuffed = (
            "Gradient boosting, Gaussian processes, boosted trees, kriging (arXiv:2031.00003)."
        )
        self.assertEqual(score(stuffed), 0)
        dump = " ".join(f"{paper['abstract']} arXiv:{key}." for key, paper in PAPERS.items())
        self.assertLess(score(dump), 0.35)
        self.assertEqual(score(), 0)

    def test_a_report_in_another_form_scores_0(self) -> None:
        whole = report(FIRST, SECOND)
        for other in (
            "",
            whole.replace("# T\n", ""),
            whole.replace("## B", "B"),
            whole.replace("## Conclusion", "## End"),
            whole + "\n## Another",
            whole + " word" * 450,
        ):
            self.assertEqual(scoring.score_report(other, ASPECTS, FINDINGS, PAPERS), 0)

    def test_sentences_end_with_items_and_paragraphs_and_headings_are_not_sentences(self) -> None:
        text = "# One\n\nA goes\non. B!\n- C (arXiv:2031.00001)\n- D\n1. E\n\nF arXiv:2031.00002. G"
        found = scoring.sentences_of(text)
        self.assertEqual(
            [sentence.text.strip(" .()") for sentence in found],
            ["A goes on", "B!", "C", "D", "E", "F", "G"],
        )
        self.assertEqual([len(sentence.cited) for sentence in found], [0, 0, 1, 0, 0, 1, 0])


class Queries(unittest.TestCase):
    def fits(self, query: str) -> bool:
        paper = papers.Paper(
            **{"identity": "", "title": "Boosted trees for maps", "authors": ["Ada Falk"]},
            **{"year": 2020, "month": 1, "venue": "", "abstract": "Errors fall. It is cheap."},
            **{"doi": "", "arxiv": "", "problem": "", "method": "", "setting": ""},
            **{"finding": "", "number": 1},
        )
        return queries.parse_query(query).fits(paper)

    def test_fields_phrases_and_operators_work_as_on_arxiv(self) -> None:
        for query in (
            "tree",
            "all:falk",
            'ti:"boosted trees"',
            "au:falk AND abs:errors",
            "moon trees",
            "ti:moon OR abs:fall",
            "ti:trees ANDNOT abs:moon",
            "(ti:moon OR ti:maps) AND (abs:cheap)",
            "ti:moon AND ti:sun OR ti:maps",
        ):
            self.assertTrue(self.fits(query), query)
        for query in (
            "moon",
            "ti:errors",
            'ti:"trees boosted"',
            "au:falk AND abs:moon",
            "ti:trees ANDNOT abs:errors",
            "ti:maps OR ti:sun AND ti:moon",
        ):
            self.assertFalse(self.fits(query), query)

    def test_what_is_not_a_query_is_reported(self) -> None:
        for query in ("(a", "a)", "()", '"a', "a AND", "xx:a", "a" * 3000, "(" * 100 + "a"):
            with self.assertRaises(queries.BadQuery):
                queries.parse_query(query)


class Grading(FolderTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prepared = Path(temporary.name)
        prepare("literature-review-tool", cls.prepared)

    def grade(self, **sources: str) -> Graded:
        for name in ("public", "private"):
            shutil.copytree(self.prepared / name, self.folder / name)
        declaration = {
            "metric": {"name": "score", "unit": "fraction", "direction": "maximize"},
            "submission": {
                "description": "",
                "files": [{"format": "python", "path": "tool.py", "defines": ["review"]}],
                "max_mb": 4,
            },
        }
        self.write("task.json", json.dumps(declaration))
        for name, source in sources.items():
            self.write(f"submissions/{name}/tool.py", source)
        with running_service(TASK / "hidden" / "arxiv_service.py", self.folder, "arxiv") as place:
            return run_grader(
                TASK / "hidden" / "grade.py", self.folder, module="tool.py", services=place
            )

    def test_the_starter_gets_its_score_and_hostile_tools_none(self) -> None:
        graded = self.grade(
            given=(TASK / "env" / "tool.py").read_text(),
            empty="def review(topic):\n    return ''\n",
            nothing="def review(topic):\n    return None\n",
            raises="def review(topic):\n    raise MemoryError\n",
            endless="def review(topic):\n    return '# a ' * 10**5\n",
        )
        self.assertEqual(graded.exit_code, 0, graded.errors)
        self.assertTrue(0.2 < graded.results["given"]["score"] < 0.35, graded.results)
        self.assertEqual(graded.results["empty"]["score"], 0)
        codes = {
            name: graded.results[name]["problems"][0]["code"]
            for name in ("nothing", "raises", "endless")
        }
        self.assertEqual(
            codes, {"nothing": "wrong_output", "raises": "crashed", "endless": "wrong_output"}
        )

    def test_the_archive_answers_as_arxiv_does(self) -> None:
        atom = {"a": "http://www.w3.org/2005/Atom"}
        with running_service(TASK / "hidden" / "arxiv_service.py", self.prepared, "a") as place:
            query = quote('abs:"graph networks"')
            status, body = get(place / "a.sock", f"/api/query?search_query={query}&max_results=2")
            entries = ElementTree.fromstring(body).findall("a:entry", atom)
            self.assertEqual((status, len(entries)), (200, 2))
            for entry in entries:
                self.assertIn("graph networks", entry.findtext("a:summary", "", atom).lower())
            identity = entries[0].findtext("a:id", "", atom).rsplit("/", 1)[1]
            same = get(place / "a.sock", f"/api/query?id_list={identity}")[1]
            self.assertEqual(len(ElementTree.fromstring(same).findall("a:entry", atom)), 1)
            for path in (
                "/api/query",
                "/api/query?search_query=(a",
                "/api/query?search_query=a&max_results=201",
                "/api/query?search_query=a&sortBy=problem",
            ):
                status, body = get(place / "a.sock", path)
                title = ElementTree.fromstring(body).findtext("a:entry/a:title", "", atom)
                self.assertEqual((status, title), (400, "Error"), path)


if __name__ == "__main__":
    unittest.main()
