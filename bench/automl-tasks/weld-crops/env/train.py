# weld seam crops -> finding
import os
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

np.random.seed(int(os.environ.get("MLAB_SEED", "0")))

# ---- load
X = np.load("data/train_images.npy")
y = pd.read_csv("data/train_labels.csv")["finding"].values
Xtest = np.load("data/test_images.npy")

X = X.reshape(len(X), -1) / 255.0
Xtest = Xtest.reshape(len(Xtest), -1) / 255.0

# ---- validate
Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.2, random_state=1, stratify=y)
model = make_pipeline(PCA(n_components=60, svd_solver="full"), SVC(C=3))
model.fit(Xa, ya)
print("val acc: %.1f%%" % (100 * (model.predict(Xb) == yb).mean()))

# ---- predict
model.fit(X, y)
out = pd.read_csv("data/test_crops.csv")
out["label"] = model.predict(Xtest)
out.to_csv("submission.csv", index=False)
print("wrote submission.csv,", len(out), "rows")
