import os
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

hp = dict(hidden=128, lr=1e-3, epochs=30, batch=32, weight_decay=0.0)
classes = ["birch", "grass", "hazel", "pine", "ragweed"]

torch.manual_seed(int(os.environ.get("MLAB_SEED", "0")))


def read_pgm(path):
    magic, size, depth, pixels = path.read_bytes().split(b"\n", 3)
    w, h = map(int, size.split())
    return np.frombuffer(pixels, dtype=np.uint8).reshape(h, w)


class Pollen(torch.utils.data.Dataset):
    def __init__(self, root, labelled=True):
        self.files = sorted(Path(root).glob("*/*.pgm" if labelled else "*.pgm"))
        self.x = torch.tensor(np.stack([read_pgm(f) for f in self.files])).float() / 255
        self.y = [classes.index(f.parent.name) if labelled else -1 for f in self.files]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(28 * 28, hp["hidden"])
        self.fc2 = nn.Linear(hp["hidden"], len(classes))

    def forward(self, x):
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def evaluate(net, loader):
    net.eval()
    loss, hits, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, hits / n


full = Pollen("data/train")
train_set, val_set = torch.utils.data.random_split(full, [1000, 250], generator=torch.Generator().manual_seed(1))
train_loader = torch.utils.data.DataLoader(train_set, batch_size=hp["batch"], shuffle=True)
val_loader = torch.utils.data.DataLoader(val_set, batch_size=250)

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=hp["lr"], weight_decay=hp["weight_decay"])

for epoch in range(hp["epochs"]):
    net.train()
    running = 0.0
    for x, y in train_loader:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    val_loss, val_acc = evaluate(net, val_loader)
    print(f"Epoch {epoch + 1}/{hp['epochs']} - loss: {running / len(train_set):.4f} - val_loss: {val_loss:.4f} - val_acc: {val_acc:.4f}")

test = Pollen("data/test", labelled=False)
net.eval()
with torch.no_grad():
    probs = F.softmax(net(test.x), dim=1)
np.save("probabilities.npy", probs.numpy())
