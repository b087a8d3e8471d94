# which stretches of DNA switch the gene on?
# k-mer frequencies -> nearest neighbours
import csv, itertools, os, random

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from fasta import read_fasta

K = 2
NEIGHBOURS = 25
VAL = 400
random.seed(int(os.environ.get("MLAB_SEED", 0)))

kmers = ["".join(p) for p in itertools.product("ACGT", repeat=K)]

def featurize(seq):
    n = len(seq) - K + 1
    counts = dict.fromkeys(kmers, 0)
    for i in range(n):
        word = seq[i:i + K]
        if word in counts:
            counts[word] += 1
    return [counts[w] / n for w in kmers]

seqs = read_fasta("data/train.fa")
with open("data/activity.csv") as f:
    active = {r["name"]: int(r["active"]) for r in csv.DictReader(f)}

names = sorted(seqs)
random.shuffle(names)
val, train = names[:VAL], names[VAL:]
X_train, y_train = np.array([featurize(seqs[n]) for n in train]), [active[n] for n in train]
X_val, y_val = np.array([featurize(seqs[n]) for n in val]), [active[n] for n in val]

knn = KNeighborsClassifier(n_neighbors=NEIGHBOURS)
knn.fit(X_train, y_train)
auc = roc_auc_score(y_val, knn.predict_proba(X_val)[:, 1])
print("AUC = %.3f (validation, n=%d, %d%% active)" % (auc, len(val), 100 * np.mean(y_val)))

test = read_fasta("data/test.fa")
with open("submission.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["name", "score"])
    scores = knn.predict_proba(np.array([featurize(s) for s in test.values()]))[:, 1]
    w.writerows((n, round(p, 4)) for n, p in zip(test, scores))
