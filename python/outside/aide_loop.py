"""Runs AIDE on the workspace in which it is started, and submits its best solution. A script.

    python -I aide_loop.py BUNDLE BRIEF ENTRY STEPS

BUNDLE is the environment with AIDE, BRIEF the file with the task's text, ENTRY the name of the
task's starter script. AIDE runs the scripts that it writes in its own interpreter, so that is the
task's, with AIDE's packages after the task's own on its path. OPENAI_BASE_URL and OPENAI_API_KEY
name the gateway to the models, which are requested by the roles of the run.

AIDE's solutions read ./input and write ./working. Its own files are in the folder `aide` of the
workspace. A submission is the solution as ENTRY and everything that it wrote, with links `input`
and `working` to the workspace itself, so that ENTRY works there as it did in AIDE's folder. Each
new best solution is submitted after the step that found it.
"""

import shutil
import sys
from pathlib import Path

PLACES = """

# Where things are
What the text above calls your workspace is ./input here: read data from there
(./input/data/train.csv, say). Write the submission and whatever else it asks for below ./working,
by the same names.
"""


def settings(aide: Path, brief: Path):
    """AIDE's configuration: its own defaults, except for its folders and its models."""
    from aide.utils.config import _load_cfg, prep_cfg

    config = _load_cfg(use_cli_args=False)
    config.data_dir = str(aide.parent)
    config.goal = brief.read_text() + PLACES
    config.log_dir, config.workspace_dir = str(aide / "logs"), str(aide / "solutions")
    config.agent.code.model = "mlab-agent"
    config.agent.feedback.model = "mlab-fast"
    return prep_cfg(config)


def lay_out(workspace: Path, solutions: Path) -> None:
    """Shows the workspace to the solutions as ./input, and gives them ./working."""
    (solutions / "input").mkdir(parents=True, exist_ok=True)
    (solutions / "working").mkdir(exist_ok=True)
    for path in workspace.iterdir():
        if path.name in ("aide", "input", "working"):
            continue
        # A submitted solution replaces the task's starter script.
        if path.is_file():
            shutil.copy(path, solutions / "input")
        else:
            (solutions / "input" / path.name).symlink_to(path)


def submit(code: str, solutions: Path, workspace: Path, entry: str) -> None:
    """Puts a solution that has just run, and what it wrote, in the workspace."""
    shutil.copytree(solutions / "working", workspace, dirs_exist_ok=True)
    for name in ("input", "working"):
        if not (workspace / name).exists():
            (workspace / name).symlink_to(".")
    (workspace / entry).unlink(missing_ok=True)
    (workspace / entry).write_text(code)


def main() -> int:
    bundle, brief, entry, steps = sys.argv[1:]
    packages = next(Path(bundle).glob("lib/python*/site-packages"))
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if packages.parent.name != own:
        print(f"AIDE is installed for {packages.parent.name}, and the task has {own}.")
        return 1
    sys.path.append(str(packages))
    from aide.agent import Agent
    from aide.interpreter import Interpreter
    from aide.journal import Journal
    from aide.utils.config import save_run
    from omegaconf import OmegaConf

    workspace = Path.cwd()
    config = settings(workspace / "aide", Path(brief))
    solutions = Path(config.workspace_dir)
    lay_out(workspace, solutions)
    journal = Journal()
    agent = Agent(task_desc=config.goal, cfg=config, journal=journal)
    interpreter = Interpreter(solutions, **OmegaConf.to_container(config.exec))
    for step in range(int(steps)):
        agent.step(exec_callback=interpreter.run)
        save_run(config, journal)
        last, best = journal.nodes[-1], journal.get_best_node()
        print(f"step {step + 1}: {'failed' if last.is_buggy else last.metric.value}", flush=True)
        if best is last:
            submit(last.code, solutions, workspace, entry)
    interpreter.cleanup_session()
    return 0


if __name__ == "__main__":
    sys.exit(main())
