"""Makes up refund claims of two years; the last quarter is hidden."""
import os
import sys

sys.path.insert(0, os.environ["MLAB_HELPERS"])
import numpy as np
from mlab_task.preparing import read_folders, write_hidden_test, write_table

N = 24000
rng = np.random.default_rng(90210)
folders = read_folders()
filed = np.datetime64("2024-01-01T00:00", "m") + np.sort(rng.integers(0, 731 * 86400 // 60, N))
filed_day = filed.astype("datetime64[D]")
hour = (filed - filed_day).astype(int) // 60
delay = np.ceil(rng.gamma(1.6, 9, N)).astype(int)
age = rng.exponential(600, N)
ordered = (filed - delay * 1440).astype("datetime64[D]")
amount = np.round(np.exp(rng.normal(3.6, 0.9, N)), 2)
category = rng.choice(["electronics", "fashion", "toys", "home", "beauty", "books", "garden", "sports"], N, p=[.16, .25, .1, .17, .1, .08, .06, .08])
reason = rng.choice(["not_received", "damaged", "wrong_item", "not_as_described", "changed_mind"], N, p=[.24, .2, .12, .22, .22])
country = rng.choice(["DE", "FR", "NL", "IT", "ES", "PL", "AT", "BE", "SE"], N, p=[.3, .17, .12, .1, .1, .08, .05, .05, .03])
payment = rng.choice(["card", "invoice", "wallet", "bank_transfer", "gift_card"], N, p=[.42, .2, .24, .09, .05])
carrier = rng.choice(["Bluebird", "Postix", "RunIt", "NordCargo", ""], N, p=[.3, .35, .2, .1, .05])
previous = rng.poisson(rng.gamma(0.8, 0.9, N))
guest = rng.random(N) < 0.18
created = np.where(guest, "", (ordered - age.astype(int)).astype(str))
pictured = np.isin(reason, ["damaged", "wrong_item", "not_as_described"])
photos = np.where(pictured, rng.poisson(1.7, N), rng.poisson(0.15, N))
silent = rng.random(N) < 0.4
chat = np.where(silent, "", np.round(rng.gamma(1.5, 5, N), 1).astype(str))

night, missing, new = hour < 5, reason == "not_received", age < 25
pricey = np.isin(category, ["electronics", "beauty"]) & (amount > 45)
z = -7.6 + 2.3 * (missing & pricey) + 1.0 * missing + 2.0 * (new | guest) * (delay < 6) + 1.1 * new
z += 1.5 * night + 1.6 * (payment == "gift_card") + 0.7 * ((payment == "invoice") & pricey)
z += 2.2 * ((carrier == "RunIt") & np.isin(country, ["NL", "BE"])) + 0.5 * np.minimum(previous, 5) * (~guest)
z += 1.2 * ((photos == 0) & np.isin(reason, ["damaged", "wrong_item"])) + 0.4 * np.log(amount / 40)
abusive = (rng.random(N) < 1 / (1 + np.exp(-1.25 * z - 2.3))).astype(int)
number = 700000 + rng.permutation(N)

header = ["claim_no", "filed_at", "ordered_on", "amount_eur", "category", "reason", "country", "payment", "carrier",
          "previous_claims", "account_created", "photo_count", "chat_minutes", "abusive"]
stamp = np.char.replace(filed.astype(str), "T", " ")
rows = list(zip(number, stamp, ordered, amount, category, reason, country, payment, carrier, previous, created, photos, chat, abusive))
known = int(np.sum(filed_day < np.datetime64("2025-10-01")))
write_table(folders.public / "claims.csv", header, rows[:known])
write_hidden_test(folders, header, rows[known:], "claim_no", "abusive")
(folders.public / "test.csv").rename(folders.public / "open_claims.csv")
