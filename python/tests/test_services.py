"""The parts of task services: the ranking of texts, and HTTP that survives its clients."""

import math
import threading
import unittest

from support import FolderTest, connect, get

from mlab_task.search import Index, words_of
from mlab_task.unix_http import Answer, _Server


class Searching(unittest.TestCase):
    def test_words_are_lower_case_without_accents_and_plural(self) -> None:
        self.assertEqual(
            words_of("Graphs, bus & Déjà-vu: 12 classes."),
            ["graph", "bus", "deja", "vu", "12", "classe"],
        )

    def test_scores_are_those_of_the_formula(self) -> None:
        index = Index(["red fox", "red red dog", "a cat sat here"])
        # "red" is in two of three texts, whose mean length is 3.
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        first = idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
        second = idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3))
        found = index.search("red")
        self.assertEqual([number for number, _ in found], [1, 0])
        self.assertAlmostEqual(found[0][1], second)
        self.assertAlmostEqual(found[1][1], first)

    def test_rare_words_count_more_and_repeated_words_of_the_query_count_once(self) -> None:
        index = Index(["red fox", "red dog", "red cat"])
        self.assertEqual([number for number, _ in index.search("red dog")][0], 1)
        self.assertEqual(index.search("dog"), index.search("dog dog dog"))
        self.assertEqual(index.search("unicorn"), [])
        self.assertEqual(index.search("?!"), [])


class Serving(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.socket = self.folder / "a.sock"
        server = _Server(str(self.socket))
        server.respond = respond
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def test_a_request_is_answered_with_its_path_and_fields(self) -> None:
        self.assertEqual(
            get(self.socket, "/a/b?x=1&y=%26&x=2"), (200, b"/a/b {'x': '2', 'y': '&'}")
        )

    def test_the_service_continues_whatever_it_receives(self) -> None:
        for hostile in (b"", b"\xff\x00\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PUT / HTTP/1.1\r\n"):
            connection = connect(self.socket)
            connection.sendall(hostile)
            connection.close()
        self.assertEqual(get(self.socket, "p://[")[0], 400)
        self.assertEqual(get(self.socket, "/fails")[0], 500)
        self.assertEqual(get(self.socket, "/x")[0], 200)

    def test_silent_clients_delay_others_only_for_a_while(self) -> None:
        silent = [connect(self.socket) for _ in range(40)]
        self.assertEqual(get(self.socket, "/x")[0], 200)
        for connection in silent:
            connection.close()


def respond(path: str, fields: dict[str, str]) -> Answer:
    if path == "/fails":
        raise ValueError("as told to")
    return Answer(200, "text/plain", f"{path} {dict(sorted(fields.items()))}".encode())


if __name__ == "__main__":
    unittest.main()
