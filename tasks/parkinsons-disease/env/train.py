"""Forecasts four UPDRS scores from the month alone, and writes submission.csv."""

import os

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold

SEED = int(os.environ.get("MLAB_SEED", "0"))
SCORES = ["updrs_1", "updrs_2", "updrs_3", "updrs_4"]
FOLDS = 8


def smape_plus_1(labels: np.ndarray, predictions: np.ndarray) -> float:
    """100 · mean(|p − y| / ((y + p) / 2 + 1)) over arrays of one shape."""
    return float(100 * np.mean(np.abs(predictions - labels) / ((labels + predictions) / 2 + 1)))


def fit(clinical: pd.DataFrame, score: str) -> RandomForestRegressor:
    """A random forest that predicts a score from the month of its measurement."""
    measured = clinical.dropna(subset=[score])
    forest = RandomForestRegressor(random_state=SEED)
    return forest.fit(measured[["visit_month"]].to_numpy(), measured[score])


def predict(forest: RandomForestRegressor, months: pd.Series) -> np.ndarray:
    """Rounded scores, of shape (len(months),)."""
    return np.rint(forest.predict(months.to_numpy().reshape(-1, 1)))


def validate(clinical: pd.DataFrame) -> float:
    """Cross-validated SMAPE+1 of all measured scores, with folds by patient."""
    labels, predictions = [], []
    for fitted, held_out in GroupKFold(FOLDS).split(clinical, groups=clinical["patient_id"]):
        for score in SCORES:
            forest = fit(clinical.iloc[fitted], score)
            measured = clinical.iloc[held_out].dropna(subset=[score])
            labels.append(measured[score].to_numpy())
            predictions.append(predict(forest, measured["visit_month"]))
    return smape_plus_1(np.concatenate(labels), np.concatenate(predictions))


def main() -> None:
    clinical = pd.read_csv("data/train_clinical_data.csv")
    test = pd.read_csv("data/test.csv")
    print(f"{clinical['patient_id'].nunique()} patients, {len(clinical)} visits")
    print(f"validation SMAPE+1: {validate(clinical):.4f}")

    test["rating"] = 0.0
    for score in SCORES:
        asked = test["score"] == score
        months = test.loc[asked, "visit_month"] + test.loc[asked, "months_ahead"]
        test.loc[asked, "rating"] = predict(fit(clinical, score), months)
    test[["prediction_id", "rating"]].to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
