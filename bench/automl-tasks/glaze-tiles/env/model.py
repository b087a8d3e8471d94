from torch import nn


class TileNet(nn.Module):
    def __init__(self, classes=5, width=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Linear(2 * width * 9, classes)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))
