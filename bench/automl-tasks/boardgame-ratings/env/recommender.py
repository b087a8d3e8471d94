"""Models that predict a rating from user and game."""


class GlobalMean:
    def __init__(self, **ignored):
        pass

    def fit(self, ratings):
        self.mean = ratings["rating"].mean()
        return self

    def predict(self, pairs):
        return [self.mean] * len(pairs)


class Bias:
    """rating = mean + user's deviation + game's deviation, each shrunk towards zero."""

    def __init__(self, user_damping=10, item_damping=10, epochs=1):
        self.user_damping = user_damping
        self.item_damping = item_damping
        self.epochs = epochs

    def fit(self, ratings):
        self.mean = ratings["rating"].mean()
        self.users, self.games = {}, {}
        for _ in range(self.epochs):
            rest = ratings["rating"] - self.mean - ratings["user"].map(self.users).fillna(0)
            self.games = self._shrunk(rest, ratings["game"], self.item_damping)
            rest = ratings["rating"] - self.mean - ratings["game"].map(self.games).fillna(0)
            self.users = self._shrunk(rest, ratings["user"], self.user_damping)
        return self

    def _shrunk(self, rest, keys, damping):
        groups = rest.groupby(keys)
        return (groups.sum() / (groups.count() + damping)).to_dict()

    def predict(self, pairs):
        return [
            self.mean + self.users.get(user, 0) + self.games.get(game, 0)
            for user, game in zip(pairs["user"], pairs["game"])
        ]


MODELS = {"mean": GlobalMean, "bias": Bias}
