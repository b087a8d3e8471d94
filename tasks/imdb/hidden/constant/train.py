"""Predicts that every review is positive, and writes submission.csv."""

import pandas as pd


def main() -> None:
    test = pd.read_csv("data/test.csv")
    submission = pd.DataFrame({"idx": test["idx"], "0": 0.0, "1": 1.0})
    submission.to_csv("submission.csv", index=False)
    print(f"{len(submission)} reviews are positive")


if __name__ == "__main__":
    main()
