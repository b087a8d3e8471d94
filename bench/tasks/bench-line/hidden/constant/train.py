"""Gives every test row the mean of the training rows, and writes submission.csv."""

import csv


def read_column(path: str, column: str) -> list[str]:
    with open(path, newline="") as file:
        return [row[column] for row in csv.DictReader(file)]


def main() -> None:
    values = [float(text) for text in read_column("data/train.csv", "y")]
    mean = sum(values) / len(values)
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "y"])
        writer.writerows([number, mean] for number in read_column("data/test.csv", "id"))


if __name__ == "__main__":
    main()
