"""Quadratic weighted kappa of two lists of levels from 1 to 5; also used for grading."""


def quadratic_weighted_kappa(truth, guesses, levels=(1, 2, 3, 4, 5)):
    truth, guesses = [int(t) for t in truth], [int(g) for g in guesses]
    observed = sum((t - g) ** 2 for t, g in zip(truth, guesses, strict=True)) / len(truth)
    share_t = [truth.count(level) / len(truth) for level in levels]
    share_g = [guesses.count(level) / len(guesses) for level in levels]
    expected = sum(
        a * b * (s - t) ** 2 for a, s in zip(share_t, levels) for b, t in zip(share_g, levels)
    )
    return 1 - observed / expected if expected else 0.0
