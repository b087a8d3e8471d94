"""Predicts that nobody was transported, and writes submission.csv."""

import pandas as pd


def main() -> None:
    test = pd.read_csv("data/test.csv")
    submission = pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": False})
    submission.to_csv("submission.csv", index=False)


if __name__ == "__main__":
    main()
