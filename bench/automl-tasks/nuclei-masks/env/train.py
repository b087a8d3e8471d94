import os
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = int(os.environ.get("MLAB_SEED", "0"))
    width: int = 8
    kernel: int = 3
    lr: float = 3e-3
    batch_size: int = 16
    epochs: int = 30
    threshold: float = 0.5
    val_fraction: float = 0.2


cfg = Config()


class Net(nn.Module):
    """Three convolutions, full resolution."""

    def __init__(self, cfg):
        super().__init__()
        pad = cfg.kernel // 2
        self.conv1 = nn.Conv2d(1, cfg.width, cfg.kernel, padding=pad)
        self.conv2 = nn.Conv2d(cfg.width, cfg.width, cfg.kernel, padding=pad)
        self.out = nn.Conv2d(cfg.width, 1, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.out(x)


def load():
    images = np.load("data/train_images.npy").astype(np.float32) / 255.0
    masks = np.unpackbits(np.load("data/train_masks.npy"), axis=-1).astype(np.float32)
    test = np.load("data/test_images.npy").astype(np.float32) / 255.0
    return [torch.from_numpy(a).unsqueeze(1) for a in (images, masks, test)]


def iou(prediction, target):
    prediction, target = prediction.bool().flatten(1), target.bool().flatten(1)
    union = (prediction | target).sum(1).clamp(min=1)
    return ((prediction & target).sum(1) / union).mean().item()


@torch.no_grad()
def predict(model, images):
    model.eval()
    return torch.cat([torch.sigmoid(model(batch)) > cfg.threshold for batch in images.split(64)])


def to_runs(mask):
    flat = np.concatenate([[0], mask.ravel().astype(int), [0]])
    changes = np.flatnonzero(np.diff(flat)) + 1
    return " ".join(f"{s} {e - s}" for s, e in zip(changes[::2], changes[1::2]))


def main():
    torch.manual_seed(cfg.seed)
    images, masks, test = load()
    order = torch.randperm(len(images))
    n_val = int(cfg.val_fraction * len(images))
    val, train = order[:n_val], order[n_val:]
    loader = DataLoader(TensorDataset(images[train], masks[train]), batch_size=cfg.batch_size, shuffle=True)

    model = Net(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(train)} train / {len(val)} val")

    for epoch in range(1, cfg.epochs + 1):
        start = time.time()
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        miou = iou(predict(model, images[val]), masks[val])
        print(f"[epoch {epoch:02d}/{cfg.epochs}] loss={total / len(train):.4f} val_miou={miou:.4f} ({time.time() - start:.1f}s)")

    prediction = predict(model, test)[:, 0].numpy()
    with open("masks.csv", "w") as f:
        f.write("image,runs\n")
        for i, mask in enumerate(prediction):
            f.write(f"{i},{to_runs(mask)}\n")


if __name__ == "__main__":
    main()
