import logging
import os
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from fuel.model import FuelModel

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("fuel")

cfg = yaml.safe_load(Path("settings.yaml").read_text(encoding="utf-8"))
seed = int(os.environ.get("MLAB_SEED", "0"))

trips = pd.read_csv(cfg["data"]["train"])
target = cfg["data"]["target"]
trips = trips.dropna(subset=[target]).sample(frac=1, random_state=seed)
n_hold = int(len(trips) * cfg["data"]["holdout"])
hold, train = trips[:n_hold], trips[n_hold:]

model = FuelModel(**cfg["model"]).fit(train, train[target])
error = np.abs(model.predict(hold) - hold[target]).mean()
log.info("trained on %d trips, held back %d", len(train), len(hold))
log.info("MAE on held-back trips: %.1f L", error)

test = pd.read_csv(cfg["data"]["test"])
pd.DataFrame({"trip": test["trip"], "litres": model.predict(test)}).to_csv(cfg["output"], index=False)
log.info("wrote %s", cfg["output"])
