from torch import nn


class HoursNet(nn.Module):
    """Plain feed-forward network with one output."""

    def __init__(self, inputs, config):
        super().__init__()
        layers = []
        width = inputs
        for _ in range(config.layers):
            layers += [nn.Linear(width, config.hidden), nn.ReLU(), nn.Dropout(config.dropout)]
            width = config.hidden
        layers.append(nn.Linear(width, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x).squeeze(-1)
