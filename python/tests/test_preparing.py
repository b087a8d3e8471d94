import os
import random
import subprocess
import sys
import unittest

from support import HELPERS, TASKS, FolderTest

from mlab_task.bundled import order_by_content
from mlab_task.preparing import Folders, write_hidden_test
from mlab_task.tables import column_places


class Columns(unittest.TestCase):
    def test_a_missing_column_is_named_together_with_the_existing_ones(self) -> None:
        self.assertEqual(column_places(["id", "digit"], ["digit", "id"], "labels.csv"), [1, 0])
        with self.assertRaisesRegex(
            ValueError, "labels.csv has no column 'test_id'; .* 'id', 'digit'"
        ):
            column_places(["id", "digit"], ["test_id", "digit"], "labels.csv")


class Splits(FolderTest):
    def prepare(self, task: str) -> None:
        for folder in ("public", "private"):
            (self.folder / folder).mkdir()
        command = [sys.executable, "-I", "-B", str(TASKS / task / "hidden" / "prepare.py")]
        for name in ("downloads", "public", "private"):
            command += [f"--{name}", str(self.folder / name)]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment, cwd=self.folder)

    def read(self, path: str) -> list[str]:
        return (self.folder / path).read_text().splitlines()

    def test_the_last_fifth_of_a_kaggle_file_is_hidden_in_file_order(self) -> None:
        for task, archive, identifier, target in [
            ("house-price", "home-data-for-ml-course", "Id", "SalePrice"),
            ("spaceship-titanic", "spaceship-titanic", "PassengerId", "Transported"),
        ]:
            with self.subTest(task):
                self.setUp()
                header = f"{identifier},Name,{target}\n"
                rows = [f'{number},"a, b",label{number}\n' for number in range(11)]
                self.write(f"downloads/{archive}/train.csv", header + "".join(rows))
                self.prepare(task)
                train, test = self.read("public/train.csv"), self.read("public/test.csv")
                self.assertEqual(train[1:], [row.strip() for row in rows[:8]])
                self.assertEqual(test, [f"{identifier},Name", *(f'{n},"a, b"' for n in (8, 9, 10))])
                self.assertEqual(
                    self.read("private/labels.csv"),
                    [f"{identifier},{target}", "8,label8", "9,label9", "10,label10"],
                )
                self.assertNotIn("label", "".join(test))

    def test_the_files_of_a_hidden_test_have_the_names_that_the_author_gives(self) -> None:
        folders = Folders(self.folder, self.folder / "public", self.folder / "private")
        for folder in (folders.public, folders.private):
            folder.mkdir()
        table = (["id", "x", "y"], [[1, 2, 3]], "id", "y")
        write_hidden_test(folders, *table, test="questions.csv", labels="answers.csv")
        self.assertEqual(self.read("public/questions.csv"), ["id,x", "1,2"])
        self.assertEqual(self.read("private/answers.csv"), ["id,y", "1,3"])


class Order(unittest.TestCase):
    def test_the_order_by_content_reveals_nothing_about_the_former_order(self) -> None:
        rows = [[number, number % 7] for number in range(200)]
        expected = [rows[place] for place in order_by_content(rows)]
        self.assertNotEqual(expected, rows)
        for seed in range(5):
            mixed = random.Random(seed).sample(rows, k=len(rows))
            self.assertEqual([mixed[place] for place in order_by_content(mixed)], expected)


if __name__ == "__main__":
    unittest.main()
