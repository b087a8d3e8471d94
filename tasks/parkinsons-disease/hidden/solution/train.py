"""Forecasts four UPDRS scores from each patient's calendar of visits, and writes submission.csv.

Patients with the disease come every few months, healthy volunteers once a year: the visit dates
say more about the scores than the month does. A forest finds the training cases similar to the one
in question, and the forecast is the value with the lowest expected SMAPE+1 over their scores, which
is often 0 where a mean would be 2.
"""

import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold

SEED = int(os.environ.get("MLAB_SEED", "0"))
SCORES = ["updrs_1", "updrs_2", "updrs_3", "updrs_4"]
WAITS = [0, 6, 12, 24]
TREES = 200
SMALLEST_LEAF = 20
FOLDS = 4
FEATURES = ["target_month", "first_half_year", "third_half_year", "first_quarter", "visits_a_year"]

Calendars = dict[int, list[int]]
"""The months of each patient's visits, ascending."""


def expected_cost(labels: np.ndarray, guess: float | np.ndarray) -> np.ndarray:
    """Contribution of each label to SMAPE+1 if the forecast is `guess`, as a fraction."""
    return np.abs(guess - labels) / ((labels + guess) / 2 + 1)


def read_calendars(visits: pd.DataFrame) -> Calendars:
    return {name: sorted(months) for name, months in visits.groupby("patient_id")["visit_month"]}


def make_features(cases: pd.DataFrame, calendars: Calendars) -> pd.DataFrame:
    """Features of a patient's visit calendar at the time of the forecast.

    :param cases: rows of patient_id, visit_month, months_ahead and record_end
    :returns: FEATURES of each row; the visit flag of a month is -1 after the record's end
    """
    rows = []
    columns = ["patient_id", "visit_month", "months_ahead", "record_end"]
    for patient, visit, wait, end in cases[columns].to_numpy():
        known = [month for month in calendars[patient] if month <= end]
        came = [int(month in known) if month <= end else -1 for month in (6, 18, 3)]
        rows.append([visit + wait, *came, 12 * len(known) / (end + 12)])
    return pd.DataFrame(rows, columns=FEATURES, index=cases.index)


def make_cases(clinical: pd.DataFrame) -> pd.DataFrame:
    """A row for each visit, horizon and score measured then, with the score as `rating`."""
    measured = clinical.melt(["patient_id", "visit_month"], SCORES, "score", "rating").dropna()
    ahead = []
    for wait in WAITS:
        later = measured.assign(visit_month=measured["visit_month"] - wait, months_ahead=wait)
        ahead.append(later.merge(clinical[["patient_id", "visit_month"]]))
    return pd.concat(ahead, ignore_index=True)


def forecast(known: pd.DataFrame, asked: pd.DataFrame) -> np.ndarray:
    """Ratings for `asked`, of shape (len(asked),): both have FEATURES, `known` has `rating` too."""
    forest = RandomForestRegressor(
        TREES, min_samples_leaf=SMALLEST_LEAF, max_features=0.7, random_state=SEED
    )
    forest.fit(known[FEATURES], known["rating"])
    labels = known["rating"].to_numpy()
    known_leaves, asked_leaves = forest.apply(known[FEATURES]), forest.apply(asked[FEATURES])
    guesses = np.arange(labels.max() + 1)
    costs = np.stack([expected_cost(labels, guess) for guess in guesses])
    total = np.zeros((len(asked), len(guesses)))
    for tree in range(TREES):
        leaves, inverse, sizes = np.unique(
            known_leaves[:, tree], return_inverse=True, return_counts=True
        )
        means = np.stack([np.bincount(inverse, cost) / sizes for cost in costs], axis=1)
        total += means[np.searchsorted(leaves, asked_leaves[:, tree])]
    return guesses[total.argmin(axis=1)]


def forecast_all(known: pd.DataFrame, asked: pd.DataFrame) -> pd.Series:
    """Ratings for `asked`, with one forest per score."""
    ratings = pd.Series(0.0, index=asked.index)
    for score in SCORES:
        rows = asked["score"] == score
        ratings[rows] = forecast(known[known["score"] == score], asked[rows])
    return ratings


def main() -> None:
    clinical = pd.read_csv("data/train_clinical_data.csv")
    test = pd.read_csv("data/test.csv")
    calendars = read_calendars(clinical) | read_calendars(pd.read_csv("data/test_visits.csv"))
    cases = make_cases(clinical)
    cases["record_end"] = cases["visit_month"]
    test["record_end"] = [calendars[patient][-1] for patient in test["patient_id"]]
    cases = cases.join(make_features(cases, calendars))
    test = test.join(make_features(test, calendars))

    fitted, held_out = next(GroupKFold(FOLDS).split(cases, groups=cases["patient_id"]))
    ratings = forecast_all(cases.iloc[fitted], cases.iloc[held_out])
    cost = expected_cost(cases.iloc[held_out]["rating"].to_numpy(), ratings.to_numpy())
    print(f"validation SMAPE+1: {100 * cost.mean():.4f}")

    test["rating"] = forecast_all(cases, test)
    test[["prediction_id", "rating"]].to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
