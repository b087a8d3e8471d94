"""An agent with one tool, bash, over OpenAI's Chat Completions."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Runs a command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


def ask(messages: list[dict], pause: float = 1) -> dict:
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        json.dumps({"model": os.environ["MLAB_MODEL"], "messages": messages, "tools": [TOOL]}).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["choices"][0]["message"]
    except urllib.error.HTTPError as error:
        # A rate limit, or an overloaded provider: trying again is left to the program.
        if error.code not in (429, 500, 502, 503, 529) or pause > 60:
            raise
    time.sleep(pause)
    return ask(messages, 2 * pause)


with open(os.environ["MLAB_BRIEF"]) as file:
    messages = [{"role": "user", "content": file.read()}]
while True:
    message = ask(messages)
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        output = (done.stdout + done.stderr)[-10_000:]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
