import json
import subprocess
import sys
import unittest

from support import HELPERS, FolderTest


class CheckSyntax(FolderTest):
    def check(self, source: str | bytes) -> tuple[int, dict[str, object] | None]:
        """The helper's exit code, and the error it found."""
        done = subprocess.run(
            [sys.executable, "-I", str(HELPERS / "check_syntax.py")],
            input=source.encode() if isinstance(source, str) else source,
            capture_output=True,
            cwd=self.folder,
        )
        return done.returncode, json.loads(done.stdout)["error"] if done.returncode == 0 else None

    def test_what_compiles_has_no_error_and_is_not_run(self) -> None:
        for source in ("", "open('ran', 'w')", "x = '\\d'", "def f():\n\treturn 'ü'", "\ufeffx"):
            self.assertEqual(self.check(source), (0, None))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_error_is_reported_with_its_line(self) -> None:
        error = {"line": 2, "message": "SyntaxError: invalid syntax", "text": "y = = 2"}
        self.assertEqual(self.check("x = 1\ny = = 2\n"), (0, error))

    def test_a_statement_in_the_wrong_place_is_an_error(self) -> None:
        for source in ("return 1", "break", "def f():\n    x = 1\n    global x"):
            self.assertIsNotNone(self.check(source)[1])

    def test_bytes_that_are_not_source_code_are_an_error(self) -> None:
        for source in (b"x = '\xff'", b"x = 1\0"):
            self.assertIsNotNone(self.check(source)[1])

    def test_hostile_nesting_ends_with_an_error_or_an_exit_code(self) -> None:
        for source in ("(" * 100_000, "-" * 1_000_000 + "1"):
            code, error = self.check(source)
            self.assertTrue(code != 0 or error is not None)


if __name__ == "__main__":
    unittest.main()
