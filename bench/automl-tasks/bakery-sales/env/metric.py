"""The metric of the task; the grader uses this file, too."""


def smape(truth, forecast):
    """Symmetric mean absolute percentage error, 0 to 200."""
    total = 0.0
    for t, f in zip(truth, forecast, strict=True):
        size = (abs(t) + abs(f)) / 2
        total += abs(t - f) / size if size else 0.0
    return 100 * total / len(truth)
