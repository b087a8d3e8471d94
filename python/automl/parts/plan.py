PLAN = {"epochs": (0, 1), "batches": (0, 1)}


def planned(rounds, unit):
    """Passes epochs or batches on, and notes which one is under way and how many there are."""
    try:
        count = len(rounds)
    except TypeError:
        # What was counted in the epoch before; nothing in the first one.
        count = PLAN[unit][1] if PLAN["epochs"][0] > 0 else 0
    place = 0
    for place, each in enumerate(rounds):
        PLAN[unit] = (place, count)
        yield each
    PLAN[unit] = (0, count or place + 1)


def scheduled(optimizer, warm_up):
    """Lets the learning rate rise for a share of all steps, and then fall to zero (cosine)."""
    import math

    for group in optimizer.param_groups:
        rate = group.get("max_lr", group.get("initial_lr", group["lr"]))
        # A rate that rises slowly and falls again may be higher than a constant one.
        group["planned_lr"] = max(rate, min(3 * rate, 0.003)) if "betas" in group else rate

    def pace(*_):
        (epoch, epochs), (batch, batches) = PLAN["epochs"], PLAN["batches"]
        within = batch / batches if batches else 0
        done = min((epoch + within) / max(epochs, 1), 1)
        step = 1 / max(epochs * batches, epochs, 1)
        rest = (1 - done) / (1 - warm_up)
        fall = (1 - math.cos(math.pi * rest)) / 2
        factor = min((done + step) / warm_up, 1) if done < warm_up else min(fall, 1)
        for group in optimizer.param_groups:
            group["lr"] = group["planned_lr"] * factor

    optimizer.register_step_pre_hook(pace)
    return optimizer
