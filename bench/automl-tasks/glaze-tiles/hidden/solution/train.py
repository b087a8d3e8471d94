import csv
import os

import numpy as np
import torch

from model import TileNet
from trainer import Trainer

SEED = int(os.environ.get("MLAB_SEED", "0"))
LR, EPOCHS, BATCH_SIZE, WIDTH = 0.004, 14, 64, 24
CONDITIONS = ["sound", "crack", "pinhole", "drip", "crawling"]

torch.manual_seed(SEED)
torch.set_num_threads(1)


def images(name):
    x = np.load(f"data/{name}_images.npy").astype(np.float32) / 255 - 0.5
    return torch.from_numpy(x).permute(0, 3, 1, 2).contiguous()


def column(path, name):
    with open(path, newline="") as f:
        return [row[name] for row in csv.DictReader(f)]


x = images("train")
y = torch.tensor([CONDITIONS.index(c) for c in column("data/train_labels.csv", "condition")])
trainer = Trainer(TileNet(len(CONDITIONS), WIDTH), LR, EPOCHS, BATCH_SIZE)
trainer.fit(x, y)

tiles = column("data/test_tiles.csv", "tile")
with open("conditions.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["tile", "condition"])
    for tile, k in zip(tiles, trainer.predict(images("test")).tolist()):
        out.writerow([tile, CONDITIONS[k]])
