"""Needs no package: tests that need Zstandard or pandas are skipped without it."""

import hashlib
import json
import os
import tempfile
import unittest
from pathlib import Path

import mlagentbench
from mlagentbench import StoreError
from mlagentbench.zstd import zstd

STORES = Path(__file__).resolve().parents[3] / "test/fixtures/store"
LINEAR = STORES / "linear/linear"
COMPRESSED = "sums-linear-scripted-replies-jsonl-0"
PLAIN = "sums-linear-scripted-replies-jsonl-1"

needs_zstd = unittest.skipUnless(zstd, "this Python has no Zstandard: pip install backports.zstd")


class Recorded(unittest.TestCase):
    """Traces that mlab wrote."""

    def test_the_events_of_a_trace_come_in_order(self) -> None:
        for experiment, run in [
            (LINEAR, PLAIN),
            (STORES / "version-1", "digits-tools-scripted-old-jsonl-0"),
        ]:
            events = list(mlagentbench.events(experiment, run))
            self.assertEqual([event["seq"] for event in events], list(range(len(events))))
            self.assertEqual(events[0]["kind"], "session_started")

    @needs_zstd
    def test_a_compressed_trace_is_read_as_it_was_written(self) -> None:
        events = list(mlagentbench.events(LINEAR, COMPRESSED))
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        self.assertEqual(events[-1]["kind"], "run_ended")

    @needs_zstd
    def test_hashes_are_replaced_by_their_long_texts(self) -> None:
        short = json.dumps(list(mlagentbench.events(LINEAR, COMPRESSED)))
        whole = json.dumps(list(mlagentbench.events(LINEAR, COMPRESSED, texts=True)))
        self.assertIn('"bytes": ', short)
        self.assertNotIn('"bytes": ', whole)
        self.assertGreater(len(whole), len(short))


class Made(unittest.TestCase):
    """Invalid traces."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.experiment = Path(scratch.name, "first")
        self.run_folder = self.experiment / "runs/digits-noop-0"
        self.run_folder.mkdir(parents=True)
        plan = {"runs": [{"id": "digits-noop-0"}, {"id": "digits-noop-1"}]}
        (self.experiment / "plan.json").write_text(json.dumps(plan))

    def write(self, *lines: str) -> None:
        text = "".join(f"{line}\n" for line in lines)
        (self.run_folder / "trace.jsonl").write_text(text, encoding="utf-8")

    def read(self, **options: bool) -> list[dict]:
        return list(mlagentbench.events(self.experiment, "digits-noop-0", **options))

    def refused(self, **options: bool) -> str:
        with self.assertRaises(StoreError) as caught:
            self.read(**options)
        return str(caught.exception)

    def test_an_incomplete_last_line_is_not_an_event(self) -> None:
        self.write('{"v":1,"kind":"note"}')
        with (self.run_folder / "trace.jsonl").open("a") as file:
            file.write('{"v":1,"kind":"no')
        self.assertEqual(self.read(), [{"v": 1, "kind": "note"}])

    def test_a_line_that_is_not_an_event_is_reported(self) -> None:
        good = '{"v":1,"kind":"note"}'
        for line in [
            *(
                "",
                "not valid JSON",
                "[]",
                '"text"',
                '{"v":1}',
                '{"kind":"note"}',
                '{"v":"1","kind":"note"}',
            ),
            *(
                '{"v":1,"kind":"note","x":NaN}',
                "[" * 100_000,
                '{"v":1,"kind":' + "9" * 10_000 + "}",
            ),
            '{"v":1,"kind":"note","x":' + "[" * 2000 + "]" * 2000 + "}",
        ]:
            with self.subTest(line=line[:40]):
                self.write(good, line, good)
                for texts in (False, True):
                    self.assertIn("trace.jsonl, line 2,", self.refused(texts=texts))

    def test_an_event_of_a_newer_version_asks_for_a_newer_package(self) -> None:
        self.write('{"v":9,"kind":"note"}')
        self.assertIn("version 9", self.refused())

    def test_names_of_runs_cannot_leave_the_experiment(self) -> None:
        for name in [
            "..",
            "../../other/runs/x",
            "/etc",
            "digits-noop-0/../x",
            "digits-noop-0\n",
            "",
        ]:
            with self.subTest(name=name), self.assertRaises(StoreError):
                mlagentbench.events(self.experiment, name)

    def test_an_unknown_run_is_an_error_and_one_that_has_not_begun_has_no_events(self) -> None:
        self.assertEqual(list(mlagentbench.events(self.experiment, "digits-noop-1")), [])
        self.assertEqual(self.read(), [])
        with self.assertRaisesRegex(StoreError, "has no run digits-noop-7"):
            mlagentbench.events(self.experiment, "digits-noop-7")
        with self.assertRaisesRegex(StoreError, "no plan.json"):
            mlagentbench.events(self.experiment.parent, "digits-noop-0")

    @unittest.skipUnless(hasattr(os, "mkfifo"), "this system has no named pipes")
    def test_a_pipe_instead_of_a_trace_is_refused_at_once(self) -> None:
        os.mkfifo(self.run_folder / "trace.jsonl")
        self.assertIn("not a regular file", self.refused())

    def test_a_missing_or_changed_object_is_reported(self) -> None:
        name = hashlib.sha256(b"long text").hexdigest()
        self.write(json.dumps({"v": 1, "kind": "x", "y": [{"object": name, "bytes": 9}]}))
        self.assertIn(f"{name} is missing", self.refused(texts=True))
        path = self.experiment / "objects" / name[:2] / name[2:]
        path.parent.mkdir(parents=True)
        path.write_bytes(b"other text")
        self.assertIn("another hash", self.refused(texts=True))
        path.write_bytes(b"long text")
        self.assertEqual(self.read(texts=True)[0]["y"], [{"text": "long text"}])

    def test_an_object_in_a_pack_is_read(self) -> None:
        texts = [f"text {number} of a large workspace".encode() for number in range(300)]
        entries, start = [], 0
        for text in texts:
            place = start.to_bytes(6, "big") + len(text).to_bytes(4, "big") + b"\0"
            entries.append(hashlib.sha256(text).digest() + place)
            start += len(text)
        packs = self.experiment / "objects/packs"
        packs.mkdir(parents=True)
        end = b"mlab pack 1\n" + len(texts).to_bytes(4, "big")
        (packs / "a.pack").write_bytes(b"cut off")
        (packs / "b.pack").write_bytes(b"".join([*texts, *sorted(entries), end]))
        for text in texts:
            event = {"v": 1, "kind": "x", "y": {"object": hashlib.sha256(text).hexdigest()}}
            self.write(json.dumps({**event, "y": {**event["y"], "bytes": len(text)}}))
            self.assertEqual(self.read(texts=True)[0]["y"], {"text": text.decode()})

    def test_what_only_looks_like_an_object_is_left_unchanged(self) -> None:
        event = {"v": 1, "kind": "x", "y": {"object": "../../secret", "bytes": 9}}
        self.write(json.dumps(event))
        self.assertEqual(self.read(texts=True), [event])

    @needs_zstd
    def test_a_damaged_compressed_file_is_reported(self) -> None:
        content = (LINEAR / "runs" / COMPRESSED / "trace.jsonl.zst").read_bytes()
        path = self.run_folder / "trace.jsonl.zst"
        middle = len(content) // 3
        flipped = content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
        for damaged in [b"", b"no Zstandard", content[:middle], flipped]:
            path.write_bytes(damaged)
            # The checksum comes after the lines, which may no longer be valid JSON.
            refusal = r"trace.jsonl(.zst is damaged|, line \d+, is not valid JSON)"
            self.assertRegex(self.refused(), refusal)

    @needs_zstd
    def test_a_line_that_is_too_long_is_refused_before_it_is_in_memory(self) -> None:
        path = self.run_folder / "trace.jsonl.zst"
        with zstd.open(path, "wb") as file:
            for _ in range(80):
                file.write(b" " * 2**20)
        self.assertLess(path.stat().st_size, 2**20)
        self.assertIn("a line of more than", self.refused())


if __name__ == "__main__":
    unittest.main()
