"""Shape features of each crop (gradients, blobs at several scales, levels) and boosted trees + SVM."""
import os
import numpy as np
import pandas as pd
from scipy import ndimage as ndi
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SEED = int(os.environ.get("MLAB_SEED", "0"))


def describe(image):
    image = image.astype(float)
    yy, xx = np.mgrid[0 : image.shape[0], 0 : image.shape[1]]
    plane = np.c_[np.ones(image.size), yy.ravel(), xx.ravel()]
    image = image - (plane @ np.linalg.lstsq(plane, image.ravel(), rcond=None)[0]).reshape(image.shape)
    noise = np.median(np.abs(image - ndi.gaussian_filter(image, 1))) + 1e-6
    row = [noise]
    for sigma in (0.7, 1, 1.5, 2, 3):
        smooth = ndi.gaussian_filter(image, sigma)
        h = [ndi.gaussian_filter(image, sigma, order=o) * sigma**2 for o in ((2, 0), (0, 2), (1, 1))]
        mean, root = (h[0] + h[1]) / 2, np.sqrt(((h[0] - h[1]) / 2) ** 2 + h[2] ** 2)
        big, small = mean + root, mean - root
        for a in (big, small, smooth):
            row += list(np.percentile(a, (0, 1, 5, 20, 80, 95, 99, 100)))
        at = big.argmax()
        row += [small.ravel()[at], smooth.ravel()[at], smooth.std()]
        row.append((big > 0.5 * big.max()).sum())
    smooth = ndi.gaussian_filter(image, 0.8) - np.median(image)
    low = -smooth.min()
    for share in (0.35, 0.5, 0.65):
        parts, count = ndi.label(smooth < -share * low)
        sizes = ndi.sum(smooth < 0, parts, range(1, count + 1))
        row += [count, (sizes > 3).sum(), sizes.max(), sizes.sum()]
        y, x = np.nonzero(parts == 1 + int(np.argmax(sizes)))
        if len(y) > 2:
            e = np.linalg.eigvalsh(np.cov(y, x))
            row += [e[1], e[0], e[0] / (e[1] + 0.1), len(y) / (np.sqrt(max(e[0], 0) * e[1]) + 0.3)]
        else:
            row += [0, 0, 1, 1]
    return row


def features(images):
    return np.array([describe(image) for image in images])


def fit_predict(X, y, Z):
    forest = ExtraTreesClassifier(500, min_samples_leaf=2, random_state=SEED).fit(X, y)
    svm = make_pipeline(StandardScaler(), SVC(C=4, gamma=0.004)).fit(X, y)
    votes = np.exp(svm.decision_function(Z))
    votes /= votes.sum(1, keepdims=True)
    return forest.classes_[(forest.predict_proba(Z) + 0.7 * votes).argmax(1)]


X, Z = features(np.load("data/train_images.npy")), features(np.load("data/test_images.npy"))
y = pd.read_csv("data/train_labels.csv")["finding"].values
Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.2, random_state=1, stratify=y)
print("val acc: %.1f%%" % (100 * (fit_predict(Xa, ya, Xb) == yb).mean()))
out = pd.read_csv("data/test_crops.csv")
out["label"] = fit_predict(X, y, Z)
out.to_csv("submission.csv", index=False)
