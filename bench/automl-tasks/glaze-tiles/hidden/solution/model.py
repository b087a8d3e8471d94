from torch import nn


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())


class TileNet(nn.Module):
    def __init__(self, classes=5, width=24):
        super().__init__()
        w = width
        self.body = nn.Sequential(block(3, w), block(w, w), nn.MaxPool2d(2), block(w, 2 * w), block(2 * w, 2 * w), nn.MaxPool2d(2), block(2 * w, 3 * w))
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(3 * w, classes))

    def forward(self, x):
        x = x - x.mean((2, 3), keepdim=True)
        return self.head(self.body(4 * x).amax((2, 3)))
