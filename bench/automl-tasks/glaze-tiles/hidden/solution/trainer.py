import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=0.004, epochs=14, batch_size=64):
        self.model, self.epochs, self.batch_size, self.lr = model, epochs, batch_size, lr

    def fit(self, x, y):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.lr, weight_decay=0.02)
        steps = self.epochs * -(-len(x) // self.batch_size)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.lr, total_steps=steps)
        criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.model.train()
        for _ in range(self.epochs):
            for batch in torch.randperm(len(x)).split(self.batch_size):
                images = x[batch]
                if torch.rand(()) < 0.5:
                    images = images.flip(3)
                loss = criterion(self.model(images), y[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        return self

    @torch.no_grad()
    def predict(self, x):
        self.model.eval()
        return (self.model(x).softmax(1) + self.model(x.flip(3)).softmax(1)).argmax(1)
