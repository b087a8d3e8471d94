"""A network on spectra and moments instead of raw samples."""

import csv
import os

import torch
from torch import nn

from dataset import NAMES, load_test, load_train, macro_f1

SEED = int(os.environ.get("MLAB_SEED", "0"))
EPOCHS, BATCH = 25, 64


def features(X):
    side = X[:, 1:].square().sum(1, keepdim=True).sqrt()  # does not change when the collar slips
    all_axes = torch.cat([X[:, :1], side, X.square().sum(1, keepdim=True).sqrt()], 1)
    moving = X - X.mean(2, keepdim=True)
    centred = torch.cat([moving, all_axes - all_axes.mean(2, keepdim=True)], 1)
    power = torch.fft.rfft(centred * torch.hann_window(64)).abs().square()
    spectra = torch.cat([power[:, :3].sum(1, keepdim=True), power[:, 3:]], 1)[:, :, :24]
    moments = [all_axes.mean(2), all_axes.std(2), centred.abs().amax(2), centred.diff(dim=2).std(2)]
    return torch.cat([(spectra + 1e-3).log().flatten(1), *moments], 1)


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    X, y, dog = load_train()
    val = torch.tensor(dog % 5 == 0)
    F, T = features(X), features(load_test())
    mean, std = F.mean(0), F.std(0)
    F, T = (F - mean) / std, (T - mean) / std
    weight = (1 / torch.bincount(y).float()).sqrt()
    total = torch.zeros(len(T), len(NAMES))
    for member in range(3):
        net = nn.Sequential(nn.Dropout(0.2), nn.Linear(F.shape[1], 96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, len(NAMES)))
        opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.02)
        part = ~val if member == 0 else torch.ones_like(val)
        rows = part.nonzero().flatten()
        for _ in range(EPOCHS):
            net.train()
            for i in rows[torch.randperm(len(rows))].split(BATCH):
                loss = nn.functional.cross_entropy(net(F[i]), y[i], weight)
                opt.zero_grad()
                loss.backward()
                opt.step()
        net.eval()
        with torch.no_grad():
            if member == 0:
                print(f"val F1 on other dogs: {macro_f1(y[val], net(F[val]).argmax(1)):.4f}")
            total += net(T).softmax(1)
    with open("data/test.csv") as f:
        ids = [row["window"] for row in csv.DictReader(f)]
    with open("activities.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["window", "activity"])
        w.writerows((i, NAMES[k]) for i, k in zip(ids, total.argmax(1).tolist()))


main()
