"""What an agent program tries with the gateway to its models, its only connection."""

import json
import os
import re
import socket
import stat
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from inside import SETTINGS, Held, attack, main

BASE = os.environ["OPENAI_BASE_URL"]
TOKEN = os.environ["OPENAI_API_KEY"]
PLACE = urllib.parse.urlparse(BASE)
CHAT = "/v1/chat/completions"
BODY = json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}).encode()
KEY = re.compile(b"sk-a-key-" + b"that-nobody")
SOCKET = "/mlab-agent/run/models.sock"
SESSION = "/mlab-agent/run/session.sock"


def ask(path: str = CHAT, token: str = TOKEN, method: str = "POST") -> tuple[int, bytes]:
    headers = {"authorization": "Bearer " + token, "content-type": "application/json"}
    origin = f"http://{PLACE.hostname}:{PLACE.port}"
    request = urllib.request.Request(origin + path, BODY, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=8) as reply:
            return reply.status, str(reply.headers).encode() + reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def raw(*pieces: bytes) -> bytes:
    with socket.create_connection((PLACE.hostname, PLACE.port), 5) as connection:
        for piece in pieces:
            connection.sendall(piece)
        said = b""
        try:
            while part := connection.recv(65536):
                said += part
        except TimeoutError:
            pass
        return said


def post(headers: str, path: str = CHAT) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n{headers}\r\n\r\n"
    return head.encode()


@attack("connects to the gateway of another run")
def gateway_of_others() -> str:
    with socket.create_connection(("127.0.0.1", SETTINGS["port"]), 2):
        return "it is connected"


@attack("uses the token of another run, or none")
def tokens() -> str:
    said = [ask(token=token)[0] for token in (SETTINGS["token"], "", "x", TOKEN[:-1], TOKEN + "0")]
    if set(said) == {401}:
        raise Held("401 to each")
    return f"answers: {said}"


@attack("asks the gateway for what its provider has besides models")
def other_paths() -> str:
    paths = [
        *["/admin", "/v1/files", "/v1/embeddings", "/v1/organizations/api_keys", "/metrics"],
        *["/v1/chat/completions/../../admin", "//v1/chat/completions", "/v1/responses/resp_1"],
        *["/v1beta/models/x:generateContent/../../y", "/v1/fine_tuning/jobs", "/v1/batches"],
    ]
    got = {path: ask(path)[0] for path in paths}
    refused = [path for path, status in got.items() if status == 404]
    if len(refused) == len(paths):
        raise Held("404 to each")
    return f"{got}"


@attack("has the gateway connect to another host")
def forwards() -> str:
    said = [
        raw(post("content-length: 0\r\nconnection: close", "http://169.254.169.254/latest/")),
        raw(b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: x\r\n\r\n"),
    ]
    statuses = [reply.split(b"\r\n")[0].decode() for reply in said]
    if any(" 200" in status for status in statuses):
        return f"{statuses}"
    raise Held(f"{statuses}")


@attack("smuggles a second request past the gateway")
def smuggles() -> str:
    inner = post(f"content-length: {len(BODY)}") + BODY
    for headers in (
        "content-length: 4\r\ncontent-length: 50",
        "content-length: 4\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked, identity",
        "content-length : 4",
        "x-one: a\ncontent-length: 4\r\n transfer-encoding: chunked",
    ):
        said = raw(post(headers) + b"0\r\n\r\n" + inner)
        if b" 200 " in said or said.count(b"HTTP/1.1") > 1:
            return f"{headers!r}: {said[:80]!r}"
    raise Held("400, once to each")


@attack("finds the key of its provider")
def key() -> str:
    places = [Path("/proc").glob("[0-9]*/environ"), Path("/proc").glob("[0-9]*/cmdline")]
    places += [Path(top).rglob("*") for top in ("/mlab-agent", "/mlab-task", "/tmp", "/etc", ".")]
    seen = 0
    for path in (one for some in places for one in some):
        try:
            if stat.S_ISREG(path.stat().st_mode):
                seen += 1
                if KEY.search(path.read_bytes()[: 2**24]):
                    return f"{path}"
        except OSError:
            continue
    status, said = ask()
    if status != 200:
        raise RuntimeError(f"the gateway answers {status}: {said!r}")
    if KEY.search(said):
        return "the reply holds it"
    raise Held(f"not in {seen} files, and not in a reply")


@attack("finds sockets beside the gateway's and its session's, and servers beside it")
def sockets() -> str:
    found = []
    for folder, folders, files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
        for name in files:
            path = os.path.join(folder, name)
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6", "udp", "udp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if " 0A " in line or table.startswith("udp")
    ]
    if sorted(found) == [SOCKET, SESSION] and listening == [f"0100007F:{PLACE.port:04X}"]:
        raise Held("there are these alone")
    return f"{found} {listening}"


@attack("gets an answer from the socket that takes its session")
def session() -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(SESSION)
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" + b"x" * (1 << 20))
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(1)
    if answer == b"":
        raise Held("it says nothing")
    return repr(answer)


@attack("puts another server into the gateway's place")
def replaces() -> str:
    os.rename(SOCKET, SOCKET + ".old")
    return "it is renamed"


@attack("has a request that can't be read answered by the harness's fault")
def faults() -> str:
    for body in (
        b"[" * 100_000 + b"]" * 100_000,
        b'{"messages":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"model":"\xff"}',
        b'{"__proto__":{"model":"x"},"messages":null}',
        b'{"messages":[{"role":"user","content":{"length":1e308}}],"n":-1,"tools":{"a":[]}}',
        b"\0" * 100_000,
    ):
        said = raw(post(f"connection: close\r\ncontent-length: {len(body)}") + body)
        if b"The gateway could not answer" in said or said == b"":
            return f"{body[:40]!r}: {said[:80]!r}"
    raise Held("each is answered as the program's own")


if __name__ == "__main__":
    main()
