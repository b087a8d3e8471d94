"""A program whose turns consist only of requests: it writes a file, and reports it to the model.

    python turns.py OPENAI_BASE_URL KEY MODEL FILES TURNS

Makes FILES small files, then takes TURNS turns, each with a tool call, its result and one file changed. Prints the
milliseconds of each request as a list.
"""

import json
import sys
import time
import urllib.request
from pathlib import Path

base, key, model, files, turns = sys.argv[1:]
for number in range(int(files)):
    path = Path("files", str(number % 20), f"{number}.txt")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{number}\n" * 20)

tool = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
messages: list[dict] = [{"role": "user", "content": "Go on." * 500}]
times = []
for turn in range(int(turns)):
    body = json.dumps({"model": model, "messages": messages, "tools": [tool]}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{base}/chat/completions", body, headers)
    start = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        message = json.load(answer)["choices"][0]["message"]
    times.append((time.perf_counter() - start) * 1000)
    messages.append(message)
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"turn {turn}\n" * 50})
    Path("changed.txt").write_text(f"{turn}\n")
print(json.dumps(times))
