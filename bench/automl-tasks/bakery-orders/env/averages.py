"""Moving averages of each series."""

from series import KEYS


class MovingAverage:
    def __init__(self, weeks, promo_uplift):
        self.weeks = weeks
        self.promo_uplift = promo_uplift

    def fit(self, orders):
        last = orders.groupby(KEYS).tail(self.weeks)
        self.level = last.groupby(KEYS)["units"].mean()
        self.uplift = 1.0
        if self.promo_uplift:
            means = orders.groupby("promo")["units"].mean()
            self.uplift = means[1] / means[0]
        return self

    def predict(self, rows):
        level = rows.join(self.level.rename("level"), on=KEYS)["level"]
        return level * (1 + (self.uplift - 1) * rows["promo"] * 0.5)
