class BestEpoch:
    """Keeps a model's weights of the epoch whose value on validation data was best."""

    def __init__(self, larger):
        self.sign = 1 if larger else -1
        self.value, self.weights = None, None

    def note(self, model, value):
        """Passes a value on, and keeps the weights where it is the best so far."""
        import copy

        gain = 1 if self.value is None else self.sign * (float(value) - float(self.value))
        if gain > 0 and float(value) == float(value):
            self.value, self.weights = value, copy.deepcopy(model.state_dict())
        return value

    def measure(self, model, function, /, *arguments, **options):
        """Notes what is else measured only after training, which goes on as if nothing were."""
        import torch

        training = model.training
        model.train(mode=False)
        with torch.no_grad(), torch.random.fork_rng():
            self.note(model, function(*arguments, **options))
        model.train(training)

    def restore(self, model):
        """Puts the kept weights into the model, and returns the value that belongs to them."""
        if self.weights is not None:
            model.load_state_dict(self.weights)
        return self.value
