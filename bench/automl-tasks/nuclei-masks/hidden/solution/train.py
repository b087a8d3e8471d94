"""A small U-Net on normalised pictures, with flips, averaged over the flips of the test pictures."""

import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = int(os.environ.get("MLAB_SEED", "0"))
EPOCHS, WIDTH = 30, 12
torch.manual_seed(SEED)


def load(name):
    images = torch.from_numpy(np.load(f"data/{name}_images.npy").astype(np.float32)).unsqueeze(1)
    return (images - images.mean((1, 2, 3), keepdim=True)) / images.std((1, 2, 3), keepdim=True)


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class Net(nn.Module):
    def __init__(self, w=WIDTH):
        super().__init__()
        self.a, self.b, self.c = block(1, w), block(w, 2 * w), block(2 * w, 4 * w)
        self.d, self.e, self.out = block(6 * w, 2 * w), block(3 * w, w), nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        return self.out(self.e(torch.cat([F.interpolate(d, scale_factor=2), a], 1)))


images, test = load("train"), load("test")
masks = torch.from_numpy(np.unpackbits(np.load("data/train_masks.npy"), axis=-1).astype(np.float32)).unsqueeze(1)
order = torch.randperm(len(images))
val, train = order[:40], order[40:]
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
batches = -(-len(train) // 16)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=EPOCHS * batches)
FLIPS = [(), (2,), (3,), (2, 3)]


@torch.no_grad()
def predict(x):
    model.eval()
    parts = []
    for batch in x.split(64):
        parts.append(sum(torch.sigmoid(model(batch.flip(f))).flip(f) for f in FLIPS) / len(FLIPS) > 0.45)
    return torch.cat(parts)


for epoch in range(EPOCHS):
    model.train()
    for index in train[torch.randperm(len(train))].split(16):
        x, y = images[index], masks[index]
        k, flip = int(torch.randint(4, ())), FLIPS[int(torch.randint(4, ()))]
        x, y = (t.rot90(k, (2, 3)).flip(flip) for t in (x, y))
        logits = model(x)
        p = torch.sigmoid(logits)
        dice = 1 - (2 * (p * y).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
        loss = F.binary_cross_entropy_with_logits(logits, y) + dice.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()

p, y = predict(images[val]).flatten(1), masks[val].bool().flatten(1)
print(f"validation mIoU: {((p & y).sum(1) / (p | y).sum(1)).mean():.4f}")
with open("masks.csv", "w") as file:
    file.write("image,runs\n")
    for i, mask in enumerate(predict(test)[:, 0].numpy()):
        flat = np.concatenate([[0], mask.ravel().astype(int), [0]])
        changes = np.flatnonzero(np.diff(flat)) + 1
        file.write(f"{i},{' '.join(f'{s} {e - s}' for s, e in zip(changes[::2], changes[1::2]))}\n")
