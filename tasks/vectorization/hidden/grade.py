"""Times a submitted `convolve` against the starter's, on new random data for every measurement."""

import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])

import numpy as np

from mlab_task.answers import only_array
from mlab_task.frames import RawArray, as_raw_arrays
from mlab_task.grading import Arguments, HarnessError, Score, grade, read_arguments
from mlab_task.problems import Rejected
from mlab_task.submission import Submission
from mlab_task.submission_workers import STARTER, SubmissionWorker, running_worker
from mlab_task.timing import compare

ROUNDS = 5
SECONDS_PER_CALL = 40
STRIDE, PADDING = 2, 2
TIMED_SHAPE = (32, 64, 64, 3)
TOLERANCE = 1e-8


def main() -> None:
    arguments = read_arguments()
    # Sampled only after the submission.
    generator = np.random.default_rng(int.from_bytes(os.urandom(16), "big"))
    grade(lambda submission: score(submission, arguments, generator), arguments)


def score(submission: Submission, arguments: Arguments, generator: np.random.Generator) -> Score:
    def measure_starter() -> float:
        try:
            return measure(STARTER, arguments, generator)
        except Rejected as rejection:
            raise HarnessError(f"the starter failed: {rejection}") from rejection

    def measure_submission() -> float:
        return measure(submission.name, arguments, generator)

    return compare(ROUNDS, measure_submission, measure_starter).score()


def measure(name: str, arguments: Arguments, generator: np.random.Generator) -> float:
    """Seconds of one call in a fresh process, after a warm-up call with another shape."""
    if arguments.exchange is None:
        raise HarnessError("this grader needs --exchange")
    first_shape = (*generator.integers([1, 5, 5], [4, 24, 24]).tolist(), TIMED_SHAPE[3])
    with running_worker(arguments.exchange, name) as worker:
        checked_call(worker, first_shape, generator)
        return checked_call(worker, TIMED_SHAPE, generator)


def checked_call(
    worker: SubmissionWorker, shape: tuple[int, ...], generator: np.random.Generator
) -> float:
    images = generator.standard_normal(shape)
    kernels = generator.standard_normal((3, 3, 3, 8))
    expected = reference(images, kernels)
    answer, seconds = worker.call(
        "convolve",
        as_raw_arrays([images, kernels]),
        {"stride": STRIDE, "padding": PADDING},
        seconds=SECONDS_PER_CALL,
        most_bytes=4 * expected.nbytes,
    )
    check_answer(answer, expected)
    return seconds


def check_answer(answer: tuple[RawArray, ...], expected: np.ndarray) -> None:
    output = only_array(answer, "convolve", expected.dtype.str, expected.shape)
    if not np.allclose(output, expected, rtol=TOLERANCE, atol=TOLERANCE):
        raise Rejected("wrong_output", "convolve and the loops return different values")


def reference(images: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    """The correct result, as a sum over kernel positions."""
    padded = np.pad(images, ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0)))
    rows = (padded.shape[1] - kernels.shape[0]) // STRIDE + 1
    columns = (padded.shape[2] - kernels.shape[1]) // STRIDE + 1
    total = np.zeros((len(images), rows, columns, kernels.shape[3]))
    for row, column in np.ndindex(*kernels.shape[:2]):
        part = padded[
            :, row : row + STRIDE * rows : STRIDE, column : column + STRIDE * columns : STRIDE
        ]
        total += part[:, :rows, :columns] @ kernels[row, column]
    return np.maximum(total, 0)


if __name__ == "__main__":
    main()
