import csv
import os
import random

from sklearn.metrics import mean_squared_error, r2_score

from promoter.model import PromoterModel

config = {
    "seed": int(os.environ.get("MLAB_SEED", "0")),
    "n_dev": 600,
    "alpha": 10.0,
}


def read_fasta(path):
    sequences, strengths = [], []
    with open(path) as f:
        for line in f:
            if line.startswith(">"):
                strengths.append(float(line.split("log2=")[1]))
                sequences.append("")
            else:
                sequences[-1] += line.strip()
    return sequences, strengths


sequences, strengths = read_fasta("data/measured.fasta")
order = list(range(len(sequences)))
random.Random(config["seed"]).shuffle(order)
dev, fit = order[: config["n_dev"]], order[config["n_dev"] :]

model = PromoterModel(config["alpha"]).fit([sequences[i] for i in fit], [strengths[i] for i in fit])
print("split      n     RMSE       R2")
print("-----  -----  -------  -------")
for name, part in (("fit", fit), ("dev", dev)):
    y, p = [strengths[i] for i in part], model.predict([sequences[i] for i in part])
    print(f"{name:5}  {len(part):5d}  {mean_squared_error(y, p) ** 0.5:7.4f}  {r2_score(y, p):7.4f}")

model = PromoterModel(config["alpha"]).fit(sequences, strengths)
with open("data/to_predict.csv", newline="") as f:
    rows = list(csv.DictReader(f))
os.makedirs("predictions", exist_ok=True)
with open("predictions/log2.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["id", "log2"])
    out.writerows(zip([r["id"] for r in rows], model.predict([r["sequence"] for r in rows])))
