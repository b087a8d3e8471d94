def by_logarithms(known, answers, asked):
    """Predicts a positive quantity from others as products of powers, exponentials and the like.

    Each form is linear in the logarithm of the answer. The form is chosen that, fitted to the two
    thirds of the known points that are farthest from the points asked for, predicts the other third
    best. Shapes: (points, quantities), (points,), (points to predict, quantities).
    """
    import numpy

    known, answers, asked = (numpy.asarray(each, float) for each in (known, answers, asked))
    if min(known.min(), answers.min(), asked.min()) <= 0:
        raise ValueError("only positive numbers have logarithms")

    def columns(points, form):
        logs = numpy.log(points)
        pairs = [logs[:, [a]] * logs[:, [b]] for a in range(logs.shape[1]) for b in range(a + 1)]
        own = {"powers": [logs], "exponentials": [points], "both": [logs, points]}
        return numpy.hstack([numpy.ones((len(points), 1)), *own.get(form, [logs, *pairs])])

    def fitted(form, rows):
        wanted = numpy.log(answers[rows])
        return numpy.linalg.lstsq(columns(known[rows], form), wanted, rcond=None)[0]

    towards = numpy.log(asked).mean(0) - numpy.log(known).mean(0)
    order = numpy.argsort(numpy.log(known) @ towards)
    near, far = numpy.split(order, [len(order) * 2 // 3])

    def error(form):
        off = columns(known[far], form) @ fitted(form, near) - numpy.log(answers[far])
        return numpy.abs(off).mean()

    best = min(("powers", "exponentials", "both", "curves"), key=error)
    return numpy.exp(columns(asked, best) @ fitted(best, order))
