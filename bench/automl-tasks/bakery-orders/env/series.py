"""Reading the orders and cutting them into past and validation."""

import pandas as pd

KEYS = ["shop", "item"]


def load(path):
    frame = pd.read_csv(path, parse_dates=["week_start"])
    return frame.sort_values(KEYS + ["week_start"]).reset_index(drop=True)


def split_last_weeks(frame, weeks):
    """The last weeks of the table are held back."""
    cut = frame["week_start"].max() - pd.Timedelta(weeks=weeks)
    return frame[frame["week_start"] <= cut], frame[frame["week_start"] > cut]


def wape(units, forecast):
    return abs(units - forecast).sum() / abs(units).sum()
