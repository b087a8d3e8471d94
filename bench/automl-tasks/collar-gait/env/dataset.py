import numpy as np
import torch

NAMES = ["rest", "walk", "trot", "gallop", "shake", "sniff"]


def load_train(path="data/train_windows.npz"):
    z = np.load(path)
    y = np.array([NAMES.index(a) for a in z["activity"]])
    return torch.tensor(z["signals"]), torch.tensor(y), z["dog"]


def load_test(path="data/test_windows.npz"):
    return torch.tensor(np.load(path)["signals"])


def macro_f1(y, p):
    scores = []
    for c in range(len(NAMES)):
        tp = ((y == c) & (p == c)).sum().item()
        n = (y == c).sum().item() + (p == c).sum().item()
        scores.append(2 * tp / n if n else 0.0)
    return sum(scores) / len(scores)
