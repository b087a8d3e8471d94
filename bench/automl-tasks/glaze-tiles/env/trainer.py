import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.003, epochs=14, batch_size=32):
        self.model, self.epochs, self.batch_size = model, epochs, batch_size
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, x, y, x_val, y_val):
        for epoch in range(1, self.epochs + 1):
            loss = self.train_epoch(x, y)
            acc = (self.predict(x_val) == y_val).float().mean().item()
            print(f"epoch {epoch} | loss {loss:.3f} | val_acc {acc * 100:.2f}%", flush=True)
        return self

    def train_epoch(self, x, y):
        self.model.train()
        total = 0.0
        for batch in torch.randperm(len(x)).split(self.batch_size):
            loss = self.criterion(self.model(x[batch]), y[batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(batch)
        return total / len(x)

    @torch.no_grad()
    def predict(self, x):
        self.model.eval()
        return self.model(x).argmax(1)
