"""Forward pass of a convolutional layer with ReLU, as one matrix product."""

import time

import numpy as np

STRIDE = 2
PADDING = 2


def convolve(images: np.ndarray, kernels: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """Convolves images with kernels and applies ReLU.

    images: (batch, height, width, channels), float64
    kernels: (kernel height, kernel width, channels, filters), float64
    stride: step of the kernels, in pixels, along both axes
    padding: pixels of zeros added on each side of height and width

    Returns (batch, output height, output width, filters), float64.
    """
    kernel_height, kernel_width, channels, filters = kernels.shape
    padded = np.pad(images, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(
        padded, (kernel_height, kernel_width), axis=(1, 2)
    )[:, ::stride, ::stride]
    batch, output_height, output_width = windows.shape[:3]

    # (batch, row, column, channels, kernel row, kernel column): one row per output pixel.
    lines = windows.reshape(-1, channels * kernel_height * kernel_width)
    weights = kernels.transpose(2, 0, 1, 3).reshape(-1, filters)
    output = (lines @ weights).reshape(batch, output_height, output_width, filters)
    return np.maximum(output, 0, out=output)


def main() -> None:
    generator = np.random.default_rng(0)
    images = generator.standard_normal((32, 64, 64, 3))
    kernels = generator.standard_normal((3, 3, 3, 8))

    start = time.perf_counter()
    output = convolve(images, kernels, STRIDE, PADDING)
    seconds = time.perf_counter() - start

    print(f"output shape: {output.shape}")
    print(f"output mean: {output.mean():.6f}")
    print(f"seconds: {seconds:.4f}")


if __name__ == "__main__":
    main()
