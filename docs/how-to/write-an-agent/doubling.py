"""Doubles a constant of the starter for as long as the printed accuracy grows."""

from mlagentbench_agent import Environment, Option, agent
from scripts import printed_accuracy, with_doubled


@agent(
    name="doubling-py",
    summary="Doubles a constant of the starter for as long as the printed accuracy grows.",
    options={
        "constant": Option("the constant that is doubled", "EPOCHS"),
        "rounds": Option("how often at most", 3),
    },
)
def run(environment: Environment) -> None:
    entry = environment.task["entry"]
    constant = str(environment.options["constant"])
    best = environment.step("Read File", file_name=entry).observation
    result = environment.step("Execute Script", script_name=entry)
    accuracy = printed_accuracy(result.observation)
    for _ in range(int(environment.options["rounds"])):
        doubled = with_doubled(best, constant)
        if doubled is None or result.ended:
            break
        environment.note({"Idea": f"I double {constant}: {accuracy} was the best so far."})
        environment.step("Write File", file_name=entry, content=doubled)
        result = environment.step("Execute Script", script_name=entry)
        if printed_accuracy(result.observation) <= accuracy:
            break
        best, accuracy = doubled, printed_accuracy(result.observation)
    environment.step("Write File", file_name=entry, content=best)
    environment.step("Execute Script", script_name=entry)
    environment.step("Final Answer", final_answer=f"{entry} with an accuracy of {accuracy}.")
