def average_weights(model, optimizer, decay):
    """Lets evaluation see a running average of the weights; training goes on with the last ones."""
    import torch

    weights = [value for group in optimizer.param_groups for value in group["params"]]
    averages = [value.detach().clone() for value in weights]
    state = {"steps": 0, "shown": False}
    train, load = model.train, model.load_state_dict

    @torch.no_grad()
    def swap():
        for weight, average in zip(weights, averages, strict=True):
            kept = weight.detach().clone()
            weight.copy_(average)
            average.copy_(kept)
        state["shown"] = not state["shown"]

    @torch.no_grad()
    def note(*_):
        if state["shown"]:
            return
        state["steps"] += 1
        # The first weights are soon forgotten.
        share = min(decay, state["steps"] / (state["steps"] + 10))
        for weight, average in zip(weights, averages, strict=True):
            average.lerp_(weight, 1 - share)

    def show(mode=True):
        if state["shown"] == bool(mode):
            swap()
        return train(mode)

    @torch.no_grad()
    def load_both(*arguments, **options):
        loaded = load(*arguments, **options)
        for weight, average in zip(weights, averages, strict=True):
            average.copy_(weight)
        return loaded

    optimizer.register_step_post_hook(note)
    model.train, model.load_state_dict = show, load_both
