"""Synthetic houses with the columns of Kaggle's train.csv.

Prices depend on size, quality, age and location.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.environ["MLAB_HELPERS"])

from mlab_task.preparing import write_table
from mlab_task.sampling import read_sample

HOUSES = 600

# Column: its values, the most frequent first. "NA" means that there is none, as in the original.
CATEGORIES = {
    "MSZoning": ("RL", "RM", "FV", "RH"),
    "Street": ("Pave", "Grvl"),
    "Alley": ("NA", "Grvl", "Pave"),
    "LotShape": ("Reg", "IR1", "IR2"),
    "LandContour": ("Lvl", "Bnk", "HLS"),
    "Utilities": ("AllPub",),
    "LotConfig": ("Inside", "Corner", "CulDSac"),
    "LandSlope": ("Gtl", "Mod"),
    "Condition1": ("Norm", "Feedr", "Artery"),
    "Condition2": ("Norm", "Feedr"),
    "BldgType": ("1Fam", "TwnhsE", "Duplex"),
    "HouseStyle": ("1Story", "2Story", "1.5Fin"),
    "RoofStyle": ("Gable", "Hip"),
    "RoofMatl": ("CompShg", "Tar&Grv"),
    "Exterior1st": ("VinylSd", "HdBoard", "MetalSd"),
    "Exterior2nd": ("VinylSd", "HdBoard", "MetalSd"),
    "MasVnrType": ("None", "BrkFace", "Stone"),
    "ExterCond": ("TA", "Gd", "Fa"),
    "Foundation": ("PConc", "CBlock", "BrkTil"),
    "BsmtCond": ("TA", "Gd", "Fa"),
    "BsmtExposure": ("No", "Av", "Gd"),
    "BsmtFinType1": ("Unf", "GLQ", "ALQ"),
    "BsmtFinType2": ("Unf", "Rec"),
    "Heating": ("GasA", "GasW"),
    "HeatingQC": ("Ex", "TA", "Gd"),
    "CentralAir": ("Y", "N"),
    "Electrical": ("SBrkr", "FuseA"),
    "Functional": ("Typ", "Min1"),
    "GarageType": ("Attchd", "Detchd", "BuiltIn"),
    "GarageFinish": ("Unf", "RFn", "Fin"),
    "GarageQual": ("TA", "Fa"),
    "GarageCond": ("TA", "Fa"),
    "PavedDrive": ("Y", "N"),
    "PoolQC": ("NA",),
    "Fence": ("NA", "MnPrv"),
    "MiscFeature": ("NA", "Shed"),
    "SaleType": ("WD", "New", "COD"),
    "SaleCondition": ("Normal", "Partial", "Abnorml"),
}
GRADES = ("Fa", "TA", "Gd", "Ex")
# Effect of the neighbourhood on the logarithm of the price.
PLACES = {"NAmes": 0.0, "OldTown": -0.15, "CollgCr": 0.12, "Edwards": -0.1, "NridgHt": 0.35}
ORDER = (
    "Id MSSubClass MSZoning LotFrontage LotArea Street Alley LotShape LandContour Utilities "
    "LotConfig LandSlope Neighborhood Condition1 Condition2 BldgType HouseStyle OverallQual "
    "OverallCond YearBuilt YearRemodAdd RoofStyle RoofMatl Exterior1st Exterior2nd MasVnrType "
    "MasVnrArea ExterQual ExterCond Foundation BsmtQual BsmtCond BsmtExposure BsmtFinType1 "
    "BsmtFinSF1 BsmtFinType2 BsmtFinSF2 BsmtUnfSF TotalBsmtSF Heating HeatingQC CentralAir "
    "Electrical 1stFlrSF 2ndFlrSF LowQualFinSF GrLivArea BsmtFullBath BsmtHalfBath FullBath "
    "HalfBath BedroomAbvGr KitchenAbvGr KitchenQual TotRmsAbvGrd Functional Fireplaces "
    "FireplaceQu GarageType GarageYrBlt GarageFinish GarageCars GarageArea GarageQual GarageCond "
    "PavedDrive WoodDeckSF OpenPorchSF EnclosedPorch 3SsnPorch ScreenPorch PoolArea PoolQC Fence "
    "MiscFeature MiscVal MoSold YrSold SaleType SaleCondition SalePrice"
).split()


def sometimes(random: np.random.Generator, share: float, low: int, high: int) -> np.ndarray:
    """Integers in [low, high) for a share of the houses, else 0. Shape (HOUSES,)."""
    return np.where(random.random(HOUSES) < share, random.integers(low, high, HOUSES), 0)


def make_columns(random: np.random.Generator) -> dict[str, np.ndarray]:
    """All columns by name, each of shape (HOUSES,)."""
    columns: dict[str, np.ndarray] = {"Id": np.arange(1, HOUSES + 1)}
    for name, values in CATEGORIES.items():
        weights = 0.5 ** np.arange(1, len(values) + 1)
        columns[name] = random.choice(values, HOUSES, p=weights / weights.sum())
    quality = np.clip(np.rint(random.normal(6, 1.4, HOUSES)), 1, 10).astype(int)
    built = np.clip(1965 + 7 * (quality - 6) + random.normal(0, 18, HOUSES), 1880, 2009).astype(int)
    first = np.clip(random.lognormal(7.0, 0.28, HOUSES), 400, 3500).astype(int)
    second = (
        first * np.where(random.random(HOUSES) < 0.45, random.uniform(0.5, 1, HOUSES), 0)
    ).astype(int)
    place = random.choice(list(PLACES), HOUSES)
    area = first + second
    bedrooms = np.clip(area // 550 + random.integers(0, 2, HOUSES), 1, 6)
    full_baths = np.clip(area // 1100 + random.integers(0, 2, HOUSES), 1, 3)
    finished = (first * random.uniform(0, 0.8, HOUSES)).astype(int)
    garage = random.integers(0, 4, HOUSES)
    grade = np.array(GRADES)[np.clip((quality - 3) // 2, 0, 3)]
    fireplaces = sometimes(random, 0.45, 1, 3)
    lot = np.clip(random.lognormal(9.1, 0.4, HOUSES), 1500, 60000).astype(int)
    columns |= {
        "MSSubClass": random.choice((20, 30, 50, 60, 120), HOUSES),
        "LotFrontage": random.integers(30, 110, HOUSES),
        "LotArea": lot,
        "Neighborhood": place,
        "OverallQual": quality,
        "OverallCond": random.integers(3, 9, HOUSES),
        "YearBuilt": built,
        "YearRemodAdd": np.minimum(2010, built + sometimes(random, 0.5, 1, 45)),
        "MasVnrArea": sometimes(random, 0.4, 50, 500),
        "ExterQual": grade,
        "BsmtQual": grade,
        "BsmtFinSF1": finished,
        "BsmtFinSF2": np.zeros(HOUSES, int),
        "BsmtUnfSF": first - finished,
        "TotalBsmtSF": first,
        "1stFlrSF": first,
        "2ndFlrSF": second,
        "LowQualFinSF": np.zeros(HOUSES, int),
        "GrLivArea": area,
        "BsmtFullBath": random.integers(0, 2, HOUSES),
        "BsmtHalfBath": np.zeros(HOUSES, int),
        "FullBath": full_baths,
        "HalfBath": random.integers(0, 2, HOUSES),
        "BedroomAbvGr": bedrooms,
        "KitchenAbvGr": np.ones(HOUSES, int),
        "KitchenQual": grade,
        "TotRmsAbvGrd": bedrooms + 3,
        "Fireplaces": fireplaces,
        "FireplaceQu": np.where(fireplaces > 0, "Gd", "NA"),
        "GarageYrBlt": built,
        "GarageCars": garage,
        "GarageArea": garage * 240,
        "WoodDeckSF": sometimes(random, 0.45, 50, 400),
        "OpenPorchSF": sometimes(random, 0.5, 20, 200),
        "EnclosedPorch": sometimes(random, 0.14, 30, 200),
        "3SsnPorch": sometimes(random, 0.02, 50, 200),
        "ScreenPorch": sometimes(random, 0.08, 50, 250),
        "PoolArea": sometimes(random, 0.01, 300, 600),
        "MiscVal": sometimes(random, 0.04, 300, 2500),
        "MoSold": random.integers(1, 13, HOUSES),
        "YrSold": random.integers(2006, 2011, HOUSES),
    }
    logarithm = (
        9.55
        + 0.11 * quality
        + 0.22 * np.log(area / 1000)
        + 0.00035 * area
        + 0.003 * (built - 1965)
        + 0.06 * garage
        + 0.09 * np.log(lot / 9000)
        + np.array([PLACES[name] for name in place])
        + random.normal(0, 0.09, HOUSES)
    )
    columns["SalePrice"] = (np.exp(logarithm + 1.1) / 100).round().astype(int) * 100
    return columns


def main() -> None:
    sample = read_sample()
    columns = make_columns(np.random.default_rng(sample.seed))
    folder = sample.downloads / "home-data-for-ml-course"
    folder.mkdir()
    rows = zip(*(columns[name].tolist() for name in ORDER), strict=True)
    write_table(folder / "train.csv", ORDER, rows)


if __name__ == "__main__":
    main()
