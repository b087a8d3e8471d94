def residual(*layers):
    """Layers whose output is added to their input, which has the same shape."""
    import torch

    class Residual(torch.nn.Sequential):
        def forward(self, x):
            return x + super().forward(x)

    return Residual(*layers)
