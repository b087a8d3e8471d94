import os, json
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

CONFIG = {
    "data": "data",
    "channels": ["force_n", "handle_m", "seat_m", "acc_x", "acc_z"],
    "stats": ["mean", "std", "min", "max"],
    "C": 1.0,
    "valid_share": 0.25,
    "seed": int(os.environ.get("MLAB_SEED", "0")),
}


def load_recording(name, cfg):
    path = os.path.join(cfg["data"], "recordings", name + ".csv")
    return pd.read_csv(path)[cfg["channels"]]


def summarise(name, cfg):
    rec = load_recording(name, cfg)
    return rec.agg(cfg["stats"]).to_numpy().ravel()


def build_matrix(index, cfg):
    return np.stack([summarise(n, cfg) for n in index["recording"]])


def build_model(cfg):
    return make_pipeline(StandardScaler(), LogisticRegression(C=cfg["C"], max_iter=1000))


def run(cfg):
    print(json.dumps(cfg))
    train = pd.read_csv(cfg["data"] + "/train_index.csv")
    test = pd.read_csv(cfg["data"] + "/test_index.csv")
    X, Xt = build_matrix(train, cfg), build_matrix(test, cfg)
    y = train["technique"].to_numpy()

    # other rowers in the validation part, as in the test
    split = GroupShuffleSplit(1, test_size=cfg["valid_share"], random_state=7)
    tr, va = next(split.split(X, y, groups=train["rower"]))
    model = build_model(cfg).fit(X[tr], y[tr])
    print(f"[train] accuracy {accuracy_score(y[tr], model.predict(X[tr])):.4f}")
    print(f"[valid] accuracy {accuracy_score(y[va], model.predict(X[va])):.4f}")

    model = build_model(cfg).fit(X, y)
    test["technique"] = model.predict(Xt)
    test[["recording", "technique"]].to_csv("answers.csv", index=False)


run(CONFIG)
