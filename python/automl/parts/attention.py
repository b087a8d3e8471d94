def fused_attention(
    query, key, value, scale=1.0, causal=False, added=None, hidden=None, fill=None, dropout=0.0
):
    """What softmax(query @ key^T * scale + added) @ value gives; hidden entries are set to fill."""
    import torch

    if torch.is_tensor(scale):
        query, scale = query * scale.reshape(()), 1.0
    if hidden is not None:
        added = torch.zeros(hidden.shape, dtype=query.dtype, device=query.device)
        added = added.masked_fill(hidden, fill)
    elif added is not None:
        added = added.to(query.dtype)
    return torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=added,
        dropout_p=dropout,
        # A square mask for one new position beside older ones has one entry, and hides nothing.
        is_causal=causal and query.shape[-2] == key.shape[-2],
        scale=scale,
    )
