"""Predicts the solubility of molecules from their structure, and writes submission.csv."""

import os

import numpy as np
import pandas as pd
from rdkit import Chem
from rdkit.Chem import Descriptors
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from sklearn.svm import SVR

SEED = int(os.environ.get("MLAB_SEED", "0"))

# Some descriptors have extreme values for rare molecules.
LARGEST_DESCRIPTOR = 1e4


def describe(smiles: pd.Series) -> np.ndarray:
    """RDKit's descriptors, shape (molecules, descriptors)."""
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    rows = [list(Descriptors.CalcMolDescriptors(molecule).values()) for molecule in molecules]
    return np.nan_to_num(np.array(rows, float)).clip(-LARGEST_DESCRIPTOR, LARGEST_DESCRIPTOR)


def make_model(descriptors: int) -> VotingRegressor:
    """The mean of boosted trees and of a smooth kernel model on transformed descriptors."""
    trees = GradientBoostingRegressor(
        n_estimators=400,
        learning_rate=0.05,
        max_depth=5,
        min_samples_leaf=3,
        subsample=0.5,
        max_features=0.1,
        random_state=SEED,
    )
    kernel = make_pipeline(
        VarianceThreshold(),
        QuantileTransformer(n_quantiles=100, output_distribution="normal", random_state=SEED),
        SVR(C=10.0, gamma=0.1 / descriptors),
    )
    return VotingRegressor([("trees", trees), ("kernel", kernel)])


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    features, solubility = describe(train["smiles"]), train["log_solubility"].to_numpy()

    # As in the hidden test set, no scaffold is in both parts.
    scaffolds = [MurckoScaffoldSmiles(text) for text in train["smiles"]]
    split = GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=SEED)
    ((fitted, validated),) = split.split(features, groups=scaffolds)
    model = make_model(features.shape[1]).fit(features[fitted], solubility[fitted])
    error = root_mean_squared_error(solubility[validated], model.predict(features[validated]))
    print(f"validation RMSE: {error:.4f}")

    # Validation is done: train on all molecules with a known solubility.
    model = make_model(features.shape[1]).fit(features, solubility)
    predictions = model.predict(describe(test["smiles"]))
    submission = pd.DataFrame({"id": test["id"], "log_solubility": predictions})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
