import json
import random
import socket
import struct
import threading
import time
import unittest
from collections.abc import Callable

import support  # noqa: F401

from mlab_task.frames import (
    LONGEST_HEADER,
    BadFrame,
    Ended,
    Frame,
    RawArray,
    receive_frame,
    send_frame,
)
from mlab_task.problems import Rejected
from mlab_task.submission_workers import SubmissionWorker

MOST = 1_000_000
NUMBERS = RawArray("<f8", (2, 1), struct.pack("<2d", 1.5, -2.0))


class PairTest(unittest.TestCase):
    def setUp(self) -> None:
        self.here, self.there = socket.socketpair()
        self.addCleanup(self.here.close)
        self.addCleanup(self.there.close)


def encoded(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "big") + text + body


def header(**array: object) -> dict:
    return {"kind": "result", "values": {}, "arrays": [array]}


class Frames(PairTest):
    def test_a_frame_is_received_as_it_was_sent(self) -> None:
        sent = Frame("call", {"id": "x", "options": {"stride": 2}}, (NUMBERS,))
        send_frame(self.here, sent)
        received = receive_frame(self.there, MOST)
        self.assertEqual((received.kind, received.values), (sent.kind, sent.values))
        self.assertEqual(bytes(received.arrays[0].data), NUMBERS.data)
        self.assertEqual(received.arrays[0].shape, (2, 1))

    def test_values_that_are_too_long_are_refused_by_the_sender(self) -> None:
        with self.assertRaisesRegex(ValueError, "of call are 70,0.. bytes of JSON.*as arrays"):
            send_frame(self.here, Frame("call", {"options": "x" * 70_000}))

    def test_what_is_not_a_frame_is_refused(self) -> None:
        good = {"kind": "result", "values": {}, "arrays": []}
        bad = [
            (LONGEST_HEADER + 1).to_bytes(8, "big"),
            b"\xff" * 8,
            encoded(b"{"),
            encoded(b"\xff\xfe"),
            encoded(b"[" * 60_000),
            encoded(b"9" * 60_000),
            encoded([]),
            encoded({**good, "kind": 1}),
            encoded({**good, "values": []}),
            encoded({**good, "arrays": {}}),
            encoded({**good, "arrays": [1]}),
            encoded({**good, "arrays": [{"dtype": "<f8", "shape": []}] * 9}),
            encoded(header(dtype="|O", shape=[1])),
            encoded(header(dtype="O", shape=[1])),
            encoded(header(dtype=["<f8"], shape=[1])),
            encoded(header(dtype="<f8", shape=[-1])),
            encoded(header(dtype="<f8", shape=[True])),
            encoded(header(dtype="<f8", shape=[1.0])),
            encoded(header(dtype="<f8", shape="1")),
            encoded(header(dtype="<f8", shape=[1] * 9)),
            encoded(header(dtype="<f8", shape=[2**32] * 8)),
            encoded(header(dtype="<f8", shape=[2**33])),
            encoded(header(dtype="<f8", shape=[MOST])),
        ]
        for content in bad:
            with self.subTest(content[:80]):
                self.setUp()
                self.there.sendall(content)
                self.assertRaises(BadFrame, receive_frame, self.here, MOST)

    def test_a_closed_connection_and_a_truncated_frame_raise_ended(self) -> None:
        self.there.sendall(encoded(header(dtype="<f8", shape=[4]), b"12345678"))
        self.there.close()
        self.assertRaises(Ended, receive_frame, self.here, MOST)
        self.assertRaises(Ended, receive_frame, self.here, MOST)
        self.assertRaises(Ended, send_frame, self.here, Frame("call", {}, (NUMBERS,)))

    def test_the_deadline_applies_to_the_frame_and_not_to_each_byte(self) -> None:
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.02):
                self.there.send(b"\0")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with self.assertRaises(TimeoutError):
                content = encoded(header(dtype="|u1", shape=[1_000]))
                self.there.sendall(content)
                receive_frame(self.here, MOST, time.monotonic() + 0.3)
        finally:
            stop.set()
            thread.join()

    def test_random_bytes_never_raise_anything_else(self) -> None:
        generator = random.Random(3)
        start = encoded(header(dtype="<i4", shape=[3]), b"abcdefghijkl")
        for _ in range(1_000):
            content = bytearray(start)
            for _ in range(generator.randrange(1, 6)):
                content[generator.randrange(len(content))] = generator.randrange(256)
            here, there = socket.socketpair()
            with here, there:
                there.sendall(content)
                there.shutdown(socket.SHUT_WR)
                try:
                    receive_frame(here, MOST)
                except (BadFrame, Ended):
                    pass


class SubmissionWorkers(PairTest):
    """The grader's side, against a peer that misbehaves."""

    def call(self, other: Callable[[Frame], None], seconds: float = 5) -> tuple:
        def run() -> None:
            try:
                other(receive_frame(self.there, MOST))
            except (Ended, OSError):
                pass

        thread = threading.Thread(target=run)
        thread.start()
        try:
            worker = SubmissionWorker(self.here)
            return worker.call("double", [NUMBERS], {}, seconds=seconds, most_bytes=100)
        finally:
            self.here.close()
            thread.join()

    def rejected(self, other: Callable[[Frame], None], code: str, seconds: float = 5) -> str:
        with self.assertRaises(Rejected) as caught:
            self.call(other, seconds)
        self.assertEqual(caught.exception.problem.code, code)
        self.setUp()
        return caught.exception.problem.message

    def test_an_answer_comes_with_the_time_that_it_took(self) -> None:
        def answer(request: Frame) -> None:
            self.assertEqual(request.values["function"], "double")
            send_frame(self.there, Frame("result", {"id": request.values["id"]}, request.arrays))

        arrays, seconds = self.call(answer)
        self.assertEqual(bytes(arrays[0].data), NUMBERS.data)
        self.assertGreater(seconds, 0)

    def test_an_answer_to_another_question_is_wrong_output(self) -> None:
        stale = Frame("result", {"id": "0" * 16}, (NUMBERS,))
        self.rejected(lambda _: send_frame(self.there, stale), "wrong_output")

    def test_garbage_and_oversize_are_wrong_output(self) -> None:
        self.rejected(lambda _: self.there.sendall(b"hello, world" * 9), "wrong_output")
        large = RawArray("<f8", (13,), bytes(104))
        self.rejected(
            lambda asked: send_frame(
                self.there, Frame("result", {"id": asked.values["id"]}, (large,))
            ),
            "wrong_output",
        )

    def test_silence_is_timed_out_and_hanging_up_is_crashed(self) -> None:
        self.rejected(lambda _: time.sleep(0.4), "timed_out", seconds=0.2)
        self.rejected(lambda _: self.there.close(), "crashed")

    def test_an_error_is_reported_as_printable_text(self) -> None:
        hostile = Frame("error", {"message": "Boom \x1b[31m\n٣" + "x" * 9_000})
        message = self.rejected(lambda _: send_frame(self.there, hostile), "crashed")
        self.assertTrue(message.replace("\n", "").isprintable())
        self.assertLess(len(message), 1_000)

    def test_speaking_before_the_question_is_wrong_output(self) -> None:
        send_frame(self.there, Frame("result", {"id": "guess"}, ()))
        self.rejected(lambda _: None, "wrong_output")

    def test_not_reading_the_question_is_timed_out(self) -> None:
        huge = RawArray("|u1", (50_000_000,), bytes(50_000_000))
        with self.assertRaises(Rejected) as caught:
            SubmissionWorker(self.here).call("double", [huge], {}, seconds=0.2, most_bytes=100)
        self.assertEqual(caught.exception.problem.code, "timed_out")


if __name__ == "__main__":
    unittest.main()
