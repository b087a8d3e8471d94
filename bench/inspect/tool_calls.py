"""Runs of trivial tool calls in Inspect AI with its mock model, for measuring what its logs take. Arguments: log folder, samples, steps."""

import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash

folder, samples, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def reply(messages, tools, tool_choice, config) -> ModelOutput:
    """Calls the tool until the steps are done."""
    step = 1 + sum(isinstance(message, ChatMessageAssistant) for message in messages)
    if step > steps:
        output = ModelOutput.from_content("mockllm/model", "done")
    else:
        output = ModelOutput.for_tool_call("mockllm/model", "bash", {"cmd": f"echo step {step}"})
    # Without it the tokens are counted with a vocabulary from the network.
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


task = Task(
    dataset=[Sample(id=number, input="Improve the accuracy.") for number in range(1, samples + 1)],
    solver=[use_tools(bash()), generate()],
    sandbox="local",
    name="tool_calls",
)
logs = eval(task, model=get_model("mockllm/model", custom_outputs=reply), log_dir=folder, display="none")
if any(log.status != "success" for log in logs):
    sys.exit(f"the evaluation ended as {[log.status for log in logs]}: {logs[0].error and logs[0].error.message}")
