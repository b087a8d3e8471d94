import csv
import os

import numpy as np
import torch
from torch import nn

config = {
    "hidden": 48,
    "epochs": 8,
    "batch_size": 64,
    "lr": 0.03,
    "momentum": 0.9,
    "val_fraction": 0.2,
    "seed": int(os.environ.get("MLAB_SEED", "0")),
}

torch.manual_seed(config["seed"])
rng = np.random.default_rng(config["seed"])

train = np.load("data/train.npz")
x = torch.tensor(train["x"], dtype=torch.float32) / 255
y = torch.tensor(train["y"])
x_test = torch.tensor(np.load("data/test.npz")["x"], dtype=torch.float32) / 255

order = rng.permutation(len(x))
n_val = int(config["val_fraction"] * len(x))
val, tr = order[:n_val], order[n_val:]

net = nn.Sequential(
    nn.Flatten(),
    nn.Linear(16 * 16, config["hidden"]),
    nn.ReLU(),
    nn.Linear(config["hidden"], 6),
)
optimizer = torch.optim.SGD(net.parameters(), lr=config["lr"], momentum=config["momentum"])
criterion = nn.CrossEntropyLoss()

for epoch in range(1, config["epochs"] + 1):
    net.train()
    rng.shuffle(tr)
    total = 0.0
    for i in range(0, len(tr), config["batch_size"]):
        idx = tr[i : i + config["batch_size"]]
        loss = criterion(net(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        acc = (net(x[val]).argmax(1) == y[val]).float().mean().item()
    print(f"epoch {epoch} | train loss {total / len(tr):.3f} | val acc {acc:.3f}")

with torch.no_grad():
    pred = net(x_test).argmax(1).tolist()
with open("data/test_ids.csv") as f:
    ids = [row["wafer"] for row in csv.DictReader(f)]
with open("submission.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["wafer", "pattern"])
    writer.writerows(zip(ids, pred))
