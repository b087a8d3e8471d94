def shifted(images, flip=False, share=0.125):
    """Moves each picture at random by up to a share of its size, and mirrors half of them."""
    import torch

    if not torch.is_tensor(images) or images.dim() != 4 or not torch.is_grad_enabled():
        return images
    count, _, height, width = images.shape
    up, left = max(1, round(height * share)), max(1, round(width * share))
    padded = torch.nn.functional.pad(images, (left, left, up, up))
    rows = torch.randint(0, 2 * up + 1, (count, 1)) + torch.arange(height)
    columns = torch.randint(0, 2 * left + 1, (count, 1)) + torch.arange(width)
    if flip:
        columns = torch.where(torch.rand(count, 1) < 0.5, columns.flip(1), columns)
    rows, columns = rows.to(images.device), columns.to(images.device)
    each = torch.arange(count, device=images.device)[:, None, None]
    moved = padded[each, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
    # In memory as the pictures were, since a script may rely on that.
    return torch.empty_like(images).copy_(moved)
