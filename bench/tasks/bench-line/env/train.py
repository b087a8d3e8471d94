"""Fits y = u a + v b + w by gradient descent, and writes submission.csv."""

import csv

LEARNING_RATE = 0.01
EPOCHS = 20
WEIGHT_DECAY = 0.1
VALIDATION_ROWS = 15


def read_table(path: str) -> list[list[float]]:
    """The numbers of a CSV file, without its header."""
    with open(path, newline="") as file:
        return [[float(field) for field in row] for row in list(csv.reader(file))[1:]]


def predict(weights: list[float], a: float, b: float) -> float:
    return weights[0] * a + weights[1] * b + weights[2]


def fit(rows: list[list[float]]) -> list[float]:
    weights = [0.0, 0.0, 0.0]
    for _ in range(EPOCHS):
        for _, a, b, y in rows:
            error = predict(weights, a, b) - y
            for place, value in enumerate((a, b, 1.0)):
                weights[place] -= LEARNING_RATE * (error * value + WEIGHT_DECAY * weights[place])
    return weights


def main() -> None:
    train = read_table("data/train.csv")
    test = read_table("data/test.csv")
    weights = fit(train[VALIDATION_ROWS:])
    squares = [(predict(weights, a, b) - y) ** 2 for _, a, b, y in train[:VALIDATION_ROWS]]
    print(f"validation RMSE: {(sum(squares) / len(squares)) ** 0.5:.4f}")

    weights = fit(train)
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "y"])
        writer.writerows([int(number), predict(weights, a, b)] for number, a, b in test)


if __name__ == "__main__":
    main()
