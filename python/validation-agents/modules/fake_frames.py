"""Writes frames, results and requests to every open file before it is asked anything."""

import json
import os

from shared import forge

RESULT = {"submission": "submission", "valid": True, "score": 0.0, "problems": []}


def fake_frame(kind: str) -> bytes:
    header = json.dumps({"kind": kind, "values": {"id": "0" * 16}, "arrays": []}).encode()
    return len(header).to_bytes(8, "big") + header


for descriptor in range(256):
    for message in (
        fake_frame("ready") + fake_frame("result") * 8,
        f"\n{json.dumps({'results': [RESULT]})}\n".encode(),
        b'{"message": "stop_worker", "gone": false}\n',
    ):
        try:
            os.write(descriptor, message)
        except OSError:
            break

forge(lambda name, honest: lambda *_, **__: None)
