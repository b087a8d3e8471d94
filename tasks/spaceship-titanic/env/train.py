"""Predicts who was transported, and writes submission.csv. The model is missing: see the gap."""

import os

import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("MLAB_SEED", "0"))

CATEGORIES = ["HomePlanet", "CryoSleep", "Destination", "VIP", "Deck", "Side"]


def prepare_features(passengers: pd.DataFrame) -> pd.DataFrame:
    """Splits the cabin into its parts and one-hot encodes the categories."""
    cabin = passengers["Cabin"].str.split("/", expand=True)
    parts = passengers.assign(Deck=cabin[0], Cabin_num=cabin[1].astype(float), Side=cabin[2])
    return pd.get_dummies(parts[CATEGORIES].astype("string"), dtype=int)


def main() -> None:
    train = pd.read_csv("data/train.csv")
    test = pd.read_csv("data/test.csv")
    train_features = prepare_features(train)
    test_features = prepare_features(test).reindex(columns=train_features.columns, fill_value=0)
    train_x, val_x, train_y, val_y = train_test_split(
        train_features, train["Transported"], test_size=0.2, random_state=SEED
    )

    # ---- The gap starts here -------------------------------------------------------------------
    # Fit a model on train_x and train_y. Define:
    #   model            an object whose predict() takes rows with the columns of train_features
    #   train_accuracy   share of train_x that the model predicts correctly
    #   val_accuracy     share of val_x that the model predicts correctly
    # ---- The gap ends here ---------------------------------------------------------------------

    print(f"train accuracy: {train_accuracy:.4f}")
    print(f"validation accuracy: {val_accuracy:.4f}")

    transported = model.predict(test_features).astype(bool)
    submission = pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": transported})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
