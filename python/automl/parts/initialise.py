def initialised(model, how):
    """Draws the weights of all linear layers and convolutions but the last anew, or shrinks it."""
    import torch

    kinds = (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
    layers = [each for each in model.modules() if isinstance(each, kinds)]
    with torch.no_grad():
        for each in layers[:-1] if how != "small last layer" else layers[-1:]:
            if how == "He":
                torch.nn.init.kaiming_normal_(each.weight, nonlinearity="relu")
            elif how == "orthogonal":
                torch.nn.init.orthogonal_(each.weight, gain=2**0.5)
            else:
                each.weight.mul_(0.1)
            if each.bias is not None:
                each.bias.zero_()
    return model
