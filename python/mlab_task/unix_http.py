"""Serves HTTP on a Unix socket, for local services of tasks; no request can make it stop."""

import argparse
import socketserver
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

# More would be more threads than a service may have; further requests wait.
MOST_AT_ONCE = 24
SILENT_SECONDS = 5


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True)
class ServiceFolders:
    """The socket and the folders of a service."""

    socket: Path
    public: Path
    private: Path


# Gets a path and the query's fields, the last value of each.
Respond = Callable[[str, Mapping[str, str]], Answer]


def read_service_folders() -> ServiceFolders:
    """Parses the command line of a service."""
    parser = argparse.ArgumentParser(description="Serve a task.")
    for name in ("socket", "public", "private"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return ServiceFolders(**vars(parser.parse_args()))


def serve(socket: Path, respond: Respond) -> None:
    """Answers GET requests on the socket until the process is killed."""
    # Clients connect as soon as they see the socket, so it gets its name once it listens.
    unnamed = socket.with_suffix(".new")
    with _Server(str(unnamed)) as server:
        unnamed.rename(socket)
        server.respond = respond
        server.serve_forever()


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    respond: Respond

    def __init__(self, path: str) -> None:
        super().__init__(path, _Handler)
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._free.acquire()
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects is not worth a line in the log."""
        if not isinstance(sys.exc_info()[1], OSError):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    # A connection is for one request: idle ones would keep others waiting.
    protocol_version = "HTTP/1.0"
    timeout = SILENT_SECONDS

    def do_GET(self) -> None:
        try:
            parts = urlsplit(self.path)
            fields = {
                name: values[-1]
                for name, values in parse_qs(parts.query, keep_blank_values=True).items()
            }
        except ValueError:
            self._send(Answer(400, "text/plain", b"this is no address\n"))
            return
        try:
            answer = self.server.respond(parts.path, fields)
        except Exception:
            traceback.print_exc()
            answer = Answer(500, "text/plain", b"the service failed on this request\n")
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        """No line in the log for every request."""
