"""How a program tries to overload the gateway, which serves other runs too."""

import os
import socket
import time
import urllib.parse
import urllib.request

from inside import Held, attack, main

BASE = os.environ["OPENAI_BASE_URL"]
TOKEN = os.environ["OPENAI_API_KEY"]
PLACE = urllib.parse.urlparse(BASE)
HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"


def connect() -> socket.socket:
    return socket.create_connection((PLACE.hostname, PLACE.port), 5)


def answers() -> None:
    """It must still answer, and soon: it only had to refuse requests."""
    body = b'{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}'
    headers = {"authorization": "Bearer " + TOKEN, "content-type": "application/json"}
    end = time.monotonic() + 20
    while True:
        try:
            request = urllib.request.Request(BASE + "/chat/completions", body, headers)
            with urllib.request.urlopen(request, timeout=5) as reply:
                raise Held(f"it answers with {reply.status}")
        except OSError:
            if time.monotonic() > end:
                return
            time.sleep(0.2)


@attack("holds 10,000 connections to the gateway")
def connections() -> str:
    held = []
    for _ in range(10_000):
        try:
            held.append(connect())
        except OSError:
            break
    for one in held:
        one.close()
    answers()
    return f"no answer after {len(held)} connections"


@attack("sends the gateway a body of a gigabyte that says its length")
def long_body() -> str:
    return sends(f"content-length: {2**30}\r\n\r\n", lambda part: part)


@attack("sends the gateway a body of a gigabyte in chunks")
def chunks() -> str:
    return sends(
        "transfer-encoding: chunked\r\n\r\n", lambda part: b"%x\r\n%b\r\n" % (len(part), part)
    )


def sends(headers: str, wrap) -> str:
    part = wrap(b" " * 2**20)
    with connect() as one:
        one.sendall((HEAD + headers).encode())
        try:
            for _ in range(1024):
                one.sendall(part)
        except OSError:
            pass
    answers()
    return "no answer after it"


@attack("sends the gateway headers without end")
def headers_without_end() -> str:
    with connect() as one:
        try:
            one.sendall(HEAD.encode())
            for _ in range(10_000):
                one.sendall(b"x: " + b"y" * 1_000 + b"\r\n")
        except OSError:
            pass
    answers()
    return "no answer after them"


if __name__ == "__main__":
    main()
