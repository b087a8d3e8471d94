#!/usr/bin/env python
# coding: utf-8

# # Collar data: what is the cow doing?
# exported from behaviour_v3.ipynb

# In[1]:

import os
import csv
import numpy as np
from sklearn.metrics import f1_score, confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get('MLAB_SEED', '0'))
K = 9
N_VAL_COWS = 4

# In[2]:

tr = np.load('data/collar_train.npz')
te = np.load('data/collar_test.npz')
X, y, cow = tr['acc'], tr['behaviour'], tr['cow']
Xt = te['acc']
print(X.shape, Xt.shape)
for b, n in zip(*np.unique(y, return_counts=True)):
    print('  %-9s %5d' % (b, n))

# In[3]:
# features per window. TODO try something with the frequencies

def features(windows):
    out = []
    for w in windows:
        f = []
        for a in range(3):
            x = w[a].astype(float)
            f.append(x.mean())
            f.append(x.std())
            f.append(np.percentile(x, 95) - np.percentile(x, 5))
        out.append(f)
    return np.array(out)

F = features(X)
Ft = features(Xt)

# In[4]:
# keep some cows for validation, otherwise the result is far too good

rng = np.random.RandomState(SEED)
val_cows = rng.choice(np.unique(cow), N_VAL_COWS, replace=False)
val = np.isin(cow, val_cows)

scaler = StandardScaler().fit(F[~val])
knn = KNeighborsClassifier(n_neighbors=K)
knn.fit(scaler.transform(F[~val]), y[~val])
p = knn.predict(scaler.transform(F[val]))
print(confusion_matrix(y[val], p))
print('>> validation macro-F1: %.1f %%' % (100 * f1_score(y[val], p, average='macro')))

# In[5]:

with open('behaviour.csv', 'w', newline='') as fh:
    wr = csv.writer(fh)
    wr.writerow(['window', 'behaviour'])
    for name, b in zip(te['window'], knn.predict(scaler.transform(Ft))):
        wr.writerow([name, b])

# In[ ]:
