import os
from dataclasses import dataclass


@dataclass
class Config:
    # data
    columns: tuple = ("distance_km", "weight_kg", "volume_l", "weekday", "dropoff_hour", "is_rural")
    val_rows: int = 480
    # network
    hidden: int = 32
    layers: int = 2
    dropout: float = 0.2
    # training
    epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    seed: int = int(os.environ.get("MLAB_SEED", "0"))
