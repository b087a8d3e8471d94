import csv
import logging

import torch
from torch.utils.data import DataLoader, TensorDataset

from config import Config
from model import HoursNet

logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("parcels")


def read(name):
    with open(f"data/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))


def features(rows, config):
    # missing numbers count as zero
    return torch.tensor([[float(row[c] or 0) for c in config.columns] for row in rows])


def fit(model, loader, config):
    optimizer = torch.optim.Adam(
        model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    loss_fn = torch.nn.MSELoss()
    for epoch in range(config.epochs):
        model.train()
        total, count = 0.0, 0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
            count += len(xb)
        if epoch % 5 == 4:
            log.info("epoch %d: train mse %.2f", epoch + 1, total / count)


def main():
    config = Config()
    torch.manual_seed(config.seed)
    rows, test_rows = read("train"), read("test")
    x, x_test = features(rows, config), features(test_rows, config)
    y = torch.tensor([float(row["hours"]) for row in rows])
    mean, std = x.mean(0), x.std(0)
    x, x_test = (x - mean) / std, (x_test - mean) / std

    order = torch.randperm(len(x))
    val, train = order[: config.val_rows], order[config.val_rows :]
    model = HoursNet(x.shape[1], config)
    loader = DataLoader(TensorDataset(x[train], y[train]), config.batch_size, shuffle=True)
    fit(model, loader, config)

    model.eval()
    with torch.no_grad():
        val_mae = (model(x[val]) - y[val]).abs().mean().item()
        predictions = model(x_test).tolist()
    log.info("done: val_mae=%.3f h", val_mae)

    with open("submission.csv", "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["parcel", "hours"])
        writer.writerows([row["parcel"], round(p, 3)] for row, p in zip(test_rows, predictions))


if __name__ == "__main__":
    main()
