"""A small convolutional network, trained on turned and mirrored pictures."""

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

CLASSES = ["birch", "grass", "hazel", "pine", "ragweed"]
torch.manual_seed(int(os.environ.get("MLAB_SEED", "0")))


def read(files):
    pixels = [np.frombuffer(file.read_bytes()[-784:], dtype=np.uint8).reshape(28, 28) for file in files]
    pictures = torch.tensor(np.stack(pixels)).float()[:, None] / 255
    pictures -= pictures.mean(dim=(2, 3), keepdim=True)
    return pictures / pictures.std(dim=(2, 3), keepdim=True)


def turned(pictures, k):
    pictures = pictures.rot90(k % 4, (2, 3))
    return pictures.flip(3) if k >= 4 else pictures


files = sorted(Path("data/train").glob("*/*.pgm"))
x, y = read(files), torch.tensor([CLASSES.index(file.parent.name) for file in files])
test = read(sorted(Path("data/test").glob("*.pgm")))


def block(before, after):
    return [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]


net = nn.Sequential(
    *block(1, 24), *block(24, 48), *block(48, 64), nn.Flatten(), nn.Dropout(0.4), nn.Linear(64 * 9, 5)
)
epochs, batch = 25, 50
optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=0.02)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=epochs * (len(x) // batch))
for _ in range(epochs):
    for rows in torch.randperm(len(x)).split(batch):
        k = int(torch.randint(8, ()))
        loss = nn.functional.cross_entropy(net(turned(x[rows], k)), y[rows], label_smoothing=0.02)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
net.eval()
with torch.no_grad():
    probabilities = torch.stack([net(turned(test, k)).softmax(1) for k in range(8)]).mean(0)
np.save("probabilities.npy", probabilities.double().numpy())
