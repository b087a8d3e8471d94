def with_neighbours(features, edges, labels=None, known=None):
    """Adds to the features of each row their means over its neighbours, and over theirs.

    With labels: also the shares of classes among the neighbours whose labels are known. A row's own
    label counts for nothing in its own row.
    """
    import numpy
    from scipy import sparse

    values = features.detach().cpu().numpy() if hasattr(features, "detach") else features
    values = numpy.asarray(values, dtype=numpy.float32)
    pairs = numpy.asarray(edges).astype(numpy.int64)
    pairs = pairs if pairs.shape[0] == 2 else pairs.T
    count = len(values)
    one = sparse.coo_matrix(
        (numpy.ones(pairs.shape[1], numpy.float32), tuple(pairs)), (count, count)
    )
    links = ((one + one.T) > 0).astype(numpy.float32).tocsr()
    links.setdiag(0)
    links.eliminate_zeros()

    def rooted(matrix):
        degrees = numpy.asarray(matrix.sum(1)).ravel()
        root = sparse.diags((1 / numpy.sqrt(numpy.maximum(degrees, 1))).astype(numpy.float32))
        return root @ matrix @ root

    step = rooted((links + sparse.identity(count, numpy.float32)).tocsr())
    found = [values]
    for _ in range(2):
        found.append(step @ found[-1])
    if labels is not None and known is not None:
        rows = numpy.asarray(known).ravel().astype(numpy.int64)
        marks = numpy.asarray(labels).ravel()
        rows = rows[marks[rows] >= 0]
        classes, places = numpy.unique(marks[rows], return_inverse=True)
        shown = numpy.zeros((count, len(classes)), numpy.float32)
        shown[rows, places] = 1
        near = links @ shown
        # Two steps lead back to where they started from as often as there are neighbours.
        far = links @ near - numpy.asarray(links.sum(1)).ravel()[:, None] * shown
        found += [near / numpy.maximum(near.sum(1, keepdims=True), 1)]
        found += [far / numpy.maximum(far.sum(1, keepdims=True), 1)]
    result = numpy.concatenate(found, axis=1).astype(numpy.float32)
    if not hasattr(features, "detach"):
        return result
    import torch

    return torch.from_numpy(result).to(device=features.device, dtype=features.dtype)
