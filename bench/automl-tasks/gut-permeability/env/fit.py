#!/usr/bin/env python
"""Predict log Papp of compounds from simple counts in their SMILES.

usage: python fit.py [params.json]
"""

import json
import os
import re
import sys

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("MLAB_SEED", "0"))

COUNTS = {
    "length": lambda s: len(s),
    "carbons": lambda s: len(re.findall(r"C(?!l)|c", s)),
    "nitrogens": lambda s: len(re.findall(r"[Nn]", s)),
    "oxygens": lambda s: len(re.findall(r"[Oo]", s)),
    "sulfurs": lambda s: len(re.findall(r"[Ss]", s)),
    "aromatic": lambda s: len(re.findall(r"[cnos]", s)),
    "rings": lambda s: len(set(re.findall(r"\d", s))),
    "halogens": lambda s: len(re.findall(r"F|Cl|Br", s)),
    "double_bonds": lambda s: s.count("="),
    "branches": lambda s: s.count("("),
}


def read_smi(path):
    smiles, names, values = [], [], []
    with open(path) as handle:
        for line in handle:
            fields = line.rstrip("\n").split("\t")
            smiles.append(fields[0])
            names.append(fields[1])
            if len(fields) > 2:
                values.append(float(fields[2]))
    return smiles, names, np.array(values)


def describe(smiles, descriptors):
    return np.array([[COUNTS[d](s) for d in descriptors] for s in smiles], dtype=float)


def build(model):
    if model["kind"] == "linear":
        return make_pipeline(StandardScaler(), LinearRegression())
    if model["kind"] == "knn":
        knn = KNeighborsRegressor(n_neighbors=model["neighbours"], weights=model["weights"])
        return make_pipeline(StandardScaler(), knn)
    raise SystemExit(f"unknown model {model['kind']}")


def cross_validate(X, y, params):
    errors = []
    folds = KFold(params["cv"]["folds"], shuffle=True, random_state=SEED)
    for k, (fit, held_out) in enumerate(folds.split(X)):
        model = build(params["model"]).fit(X[fit], y[fit])
        errors.append(np.mean(np.abs(model.predict(X[held_out]) - y[held_out])))
        print(f"  fold {k + 1}: MAE {errors[-1]:.3f}")
    return np.mean(errors), np.std(errors)


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else "params.json") as handle:
        params = json.load(handle)
    smiles, _, y = read_smi(params["paths"]["train"])
    X = describe(smiles, params["descriptors"])
    print(f"{len(y)} compounds, {X.shape[1]} descriptors, model: {params['model']}")
    mean, std = cross_validate(X, y, params)
    print(f"cross-validated MAE = {mean:.4f} +/- {std:.4f} log units")

    model = build(params["model"]).fit(X, y)
    smiles, names, _ = read_smi(params["paths"]["test"])
    predicted = model.predict(describe(smiles, params["descriptors"]))
    with open(params["paths"]["out"], "w") as handle:
        handle.write("name,log_papp\n")
        for name, value in zip(names, predicted):
            handle.write(f"{name},{value:.4f}\n")


if __name__ == "__main__":
    main()
