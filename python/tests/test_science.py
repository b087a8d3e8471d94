import csv
import importlib.util
import json
import os
import random
import subprocess
import sys
import unittest

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest, needs_numpy

needs_rdkit = unittest.skipUnless(
    importlib.util.find_spec("rdkit"), "RDKit is not installed for this Python"
)


class ScienceTest(FolderTest):
    def prepare(self, task: str, file: str, content: str) -> None:
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        self.write(f"downloads/{file}", content)
        command = [sys.executable, "-I", "-B", str(TASKS / task / "hidden" / "prepare.py")]
        for name in ("downloads", "public", "private"):
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment, cwd=self.folder)

    def read(self, path: str) -> list[dict[str, str]]:
        with (self.folder / path).open(newline="") as file:
            return list(csv.DictReader(file))

    def rows(self) -> tuple[list[dict[str, str]], list[dict[str, str]], list[dict[str, str]]]:
        """Training rows, test rows and labels; every test row has its label, no id occurs twice."""
        train, test = self.read("public/train.csv"), self.read("public/test.csv")
        labels = self.read("private/labels.csv")
        self.assertEqual([row["id"] for row in test], [row["id"] for row in labels])
        ids = [row["id"] for row in train + test]
        self.assertEqual(len(ids), len(set(ids)))
        return train, test, labels


class EcoliData(ScienceTest):
    # Two sites with enough proteins and one with two; the name identifies the protein.
    lines = [
        f"{site}{number}_ECOLI  0.{number + 10}  0.20  0.48  0.50  0.30  0.40  0.{place}0   {site}"
        for place, (site, size) in enumerate({"cp": 24, "om": 20, "imS": 2}.items())
        for number in range(size)
    ]

    def test_half_of_every_site_is_hidden_and_rare_sites_are_left_out(self) -> None:
        self.prepare("ecoli", "ecoli.data", "\n".join(self.lines) + "\n\n")
        train, test, labels = self.rows()
        self.assertEqual(sorted(row["site"] for row in labels), ["cp"] * 12 + ["om"] * 10)
        self.assertEqual(sorted(row["site"] for row in train), ["cp"] * 12 + ["om"] * 10)
        self.assertNotIn("site", test[0])

    def test_names_and_the_order_of_the_file_are_removed(self) -> None:
        self.prepare("ecoli", "ecoli.data", "\n".join(self.lines))
        first = (self.folder / "public/train.csv").read_bytes()
        self.assertNotIn(b"ECOLI", first + (self.folder / "public/test.csv").read_bytes())
        sites = [row["site"] for row in self.rows()[2]]
        self.assertNotEqual(sites, sorted(sites))
        self.setUp()
        mixed = random.Random(3).sample(self.lines, k=len(self.lines))
        self.prepare("ecoli", "ecoli.data", "\n".join(mixed))
        self.assertEqual((self.folder / "public/train.csv").read_bytes(), first)


class PowerPlantData(ScienceTest):
    def test_no_vacuum_is_in_both_parts_and_copies_are_merged(self) -> None:
        hours = [
            f"{5 + hour}.5\t{40 + day}{'.' if day % 2 else '.0'}\t1010.{day}\t80\t4{day}.{hour}"
            for day in range(20)
            for hour in range(10)
        ]
        self.prepare("uci-power-plant", "data.txt", "\n".join([*hours, hours[7], hours[130]]))
        train, test, _ = self.rows()
        self.assertEqual((len(train), len(test)), (140, 60))
        known, unknown = ({float(row["exhaust_vacuum"]) for row in rows} for rows in (train, test))
        self.assertFalse(known & unknown)
        self.assertNotIn("output", test[0])


@needs_numpy
class SpliceData(ScienceTest):
    def sequence(self, generator: random.Random) -> str:
        return "".join(generator.choices("ACGT", k=60))

    def test_genes_overlaps_and_close_copies_stay_together(self) -> None:
        generator = random.Random(5)
        lines, families = [], {}

        def add(kind: str, gene: str, sequence: str, family: int) -> None:
            families[sequence] = family
            lines.append(f"{kind},    {gene}-DONOR-{len(lines)},    {sequence}")

        for family in range(60):
            whole = self.sequence(generator) + self.sequence(generator)
            add("EI", f"GENE{family}", whole[:60], family)
            add("N", f"GENE{family}", self.sequence(generator), family)
            add("IE", f"OTHER{family}", whole[35:95], family)
            copy = list(whole[:60])
            for place in range(0, 60, 4):
                copy[place] = "A"
            add("N", f"COPY{family}", "".join(copy), family)
        self.prepare("splice-junction", "splice.data", "\n".join(lines) + "\n")
        train, test, labels = self.rows()
        self.assertEqual((len(train), len(test)), (144, 96))
        known, unknown = ({families[row["sequence"]] for row in rows} for rows in (train, test))
        self.assertFalse(known & unknown)
        self.assertNotIn("GENE", (self.folder / "public/test.csv").read_text())
        self.assertEqual({row["kind"] for row in labels}, {"EI", "IE", "N"})

    def test_copies_are_merged_and_omitted_if_their_kinds_differ(self) -> None:
        generator = random.Random(6)
        one, two, three = (self.sequence(generator) for _ in range(3))
        windows = [("EI", one), ("EI", one), ("EI", two), ("N", two), ("N", three)]
        lines = [f"{kind}, G{n}-X-1, {text}" for n, (kind, text) in enumerate(windows)]
        self.prepare("splice-junction", "splice.data", "\n".join(lines))
        train, test, _ = self.rows()
        self.assertEqual({row["sequence"] for row in train + test}, {one, three})


@needs_rdkit
class EsolData(ScienceTest):
    header = (
        "Compound ID,ESOL predicted log solubility in mols per litre,"
        "measured log solubility in mols per litre,smiles"
    )

    def test_scaffolds_are_not_shared_and_what_reveals_labels_is_removed(self) -> None:
        rings = [f"C1{'C' * size}C1" for size in range(1, 40)]
        molecules = [text for ring in rings for text in (f"C{ring}", f"OC{ring}")]
        molecules += ["C" * size for size in range(1, 30)]
        rows = [f"name{n},-1.5,{-n / 10},{text}" for n, text in enumerate(molecules)]
        rows += ["again,-1.5,-7.0,CO", "again,-1.5,-8.0,OC "]
        self.prepare("esol", "delaney-processed.csv", "\n".join([self.header, *rows]))
        train, test, labels = self.rows()
        self.assertEqual(len(train) + len(test), len(molecules) + 1)
        self.assertEqual(list(test[0]), ["id", "smiles"])

        def ring_sizes(rows: list[dict[str, str]]) -> set[int]:
            ringed = [row["smiles"] for row in rows if "1" in row["smiles"]]
            return {smiles.count("C") - 1 for smiles in ringed}

        self.assertTrue(ring_sizes(train) and ring_sizes(test))
        self.assertFalse(ring_sizes(train) & ring_sizes(test))
        self.assertTrue(all("1" in row["smiles"] for row in test))
        (merged,) = (row for row in train if row["smiles"] == "CO")
        self.assertEqual(float(merged["log_solubility"]), -7.5)
        self.assertEqual(list(labels[0]), ["id", "log_solubility"])


class Graders(FolderTest):
    def grade(self, task: str, column: dict, labels: str, submissions: dict[str, str]) -> dict:
        file = {"format": "csv", "path": "submission.csv", "columns": [column]}
        file["id"] = {"column": "id", "from": "test.csv"}
        self.write("task.json", json.dumps({"metric": {}, "submission": {"files": [file]}}))
        self.write("private/labels.csv", f"id,{column['name']}\n{labels}")
        ids = [line.split(",")[0] for line in labels.splitlines()]
        self.write("public/test.csv", "\n".join(["id", *ids]))
        for name, rows in submissions.items():
            self.write(f"submissions/{name}/submission.csv", f"id,{column['name']}\n{rows}")
        graded = run_grader(TASKS / task / "hidden" / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        return graded.results

    def test_balanced_accuracy_gives_every_site_the_same_weight(self) -> None:
        column = {"name": "site", "type": "text", "values": ["cp", "im", "imU", "pp", "om"]}
        labels = "0,cp\n1,cp\n2,cp\n3,cp\n4,om\n5,om\n"
        results = self.grade(
            "ecoli",
            column,
            labels,
            {
                "perfect": labels,
                "reversed": "\n".join(reversed(labels.split())),
                "constant": "".join(f"{number},cp\n" for number in range(6)),
                # Shares of 3/4 and 1/2; a site that no hidden protein has is wrong like any other.
                "mixed": "0,cp\n1,cp\n2,cp\n3,pp\n4,om\n5,cp\n",
                "unknown": labels.replace("4,om", "4,nowhere"),
                "repeated": labels.replace("5,om", "4,om"),
            },
        )
        self.assertEqual([results[name]["score"] for name in ("perfect", "reversed")], [1, 1])
        self.assertEqual(results["constant"]["score"], 0.5)
        self.assertEqual(results["mixed"]["score"], 0.625)
        self.assertFalse(results["unknown"]["valid"] or results["repeated"]["valid"])

    def test_macro_f1_counts_false_alarms_of_every_kind(self) -> None:
        column = {"name": "kind", "type": "text", "values": ["EI", "IE", "N"]}
        labels = "0,EI\n1,EI\n2,IE\n3,IE\n4,N\n5,N\n6,N\n7,N\n"
        results = self.grade(
            "splice-junction",
            column,
            labels,
            {
                "perfect": labels,
                "constant": "".join(f"{number},N\n" for number in range(8)),
                # EI: 1 hit, 2 members, 3 predicted; IE: 2, 2, 2; N: 2, 4, 3.
                "mixed": "0,EI\n1,N\n2,IE\n3,IE\n4,N\n5,N\n6,EI\n7,EI\n",
                "lower": labels.lower(),
            },
        )
        self.assertEqual(results["perfect"]["score"], 1)
        self.assertAlmostEqual(results["constant"]["score"], 2 * 4 / (4 + 8) / 3)
        self.assertAlmostEqual(results["mixed"]["score"], (2 / 5 + 1 + 4 / 7) / 3)
        self.assertFalse(results["lower"]["valid"])

    def test_errors_are_computed_by_id_and_what_is_not_a_number_is_refused(self) -> None:
        for task, name in (("esol", "log_solubility"), ("uci-power-plant", "output")):
            with self.subTest(task):
                self.setUp()
                column = {"name": name, "type": "number", "min": -100, "max": 1000}
                results = self.grade(
                    task,
                    column,
                    "0,1\n1,2\n2,3\n",
                    {
                        "ordered": "0,1\n1,5\n2,7\n",
                        "reversed": "2,7\n1,5\n0,1\n",
                        "nan": "0,nan\n1,2\n2,3\n",
                        "infinite": "0,1\n1,inf\n2,3\n",
                        "huge": "0,1\n1,1e300\n2,3\n",
                        "short": "0,1\n1,2\n",
                        "repeated": "0,1\n1,2\n1,2\n2,3\n",
                    },
                )
                expected = (25 / 3) ** 0.5
                self.assertAlmostEqual(results["ordered"]["score"], expected)
                self.assertAlmostEqual(results["reversed"]["score"], expected)
                for hostile in ("nan", "infinite", "huge", "short", "repeated"):
                    self.assertFalse(results[hostile]["valid"], hostile)


if __name__ == "__main__":
    unittest.main()
