"""Runs of trivial tool calls in Inspect AI with its mock model, for measuring what its logs and its steps take.

Arguments: log folder, samples at a time, samples, steps, how many samples are run; the others are copies of these.
Prints the seconds that the evaluation took.
"""

import sys
from time import perf_counter
from uuid import uuid4

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash

folder = sys.argv[1]
at_once, samples, steps, distinct = (int(number) for number in sys.argv[2:6])


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
    dataset=[Sample(id=number, input="Improve the accuracy.") for number in range(1, distinct + 1)],
    solver=[use_tools(bash()), generate()],
    sandbox="local",
    name="tool_calls",
)
model = get_model("mockllm/model", custom_outputs=reply)
start = perf_counter()
logs = eval(task, model=model, log_dir=folder, display="none", max_samples=at_once)
print(perf_counter() - start)
if any(log.status != "success" for log in logs):
    why = logs[0].error and logs[0].error.message
    sys.exit(f"the evaluation ended as {[log.status for log in logs]}: {why}")
if samples > distinct:
    log = read_eval_log(logs[0].location)
    made = log.samples or []
    log.samples = [
        made[place % distinct].model_copy(update={"id": place + 1, "uuid": uuid4().hex})
        for place in range(samples)
    ]
    log.eval.dataset.samples = samples
    log.eval.dataset.sample_ids = [sample.id for sample in log.samples]
    if log.results is not None:
        log.results.total_samples = log.results.completed_samples = samples
    write_eval_log(log, logs[0].location)
