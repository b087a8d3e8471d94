"""First model for abusive refund claims."""

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("refunds")


@dataclass
class Config:
    seed: int = int(os.environ.get("MLAB_SEED", "0"))
    valid_share: float = 0.25
    regularisation: float = 0.001
    columns: list[str] = field(
        default_factory=lambda: ["amount_eur", "previous_claims", "photo_count", "chat_minutes"]
    )
    out: Path = Path("outputs/probabilities.csv")


def load(name: str) -> pd.DataFrame:
    frame = pd.read_csv(f"data/{name}.csv", parse_dates=["filed_at", "ordered_on", "account_created"])
    log.info("read %s: %d rows, %d columns", name, *frame.shape)
    return frame


def build(config: Config):
    return make_pipeline(
        SimpleImputer(strategy="median"),
        StandardScaler(),
        LogisticRegression(C=config.regularisation, random_state=config.seed),
    )


def run(config: Config) -> None:
    claims, open_claims = load("claims"), load("open_claims")
    log.info("share of abusive claims: %.4f", claims["abusive"].mean())
    train, valid = train_test_split(
        claims, test_size=config.valid_share, random_state=config.seed, stratify=claims["abusive"]
    )
    model = build(config).fit(train[config.columns], train["abusive"])
    p = model.predict_proba(valid[config.columns])[:, 1]
    log.info("valid logloss %.5f, auc %.4f", log_loss(valid["abusive"], p), roc_auc_score(valid["abusive"], p))

    model = build(config).fit(claims[config.columns], claims["abusive"])
    open_claims["p_abusive"] = model.predict_proba(open_claims[config.columns])[:, 1]
    config.out.parent.mkdir(parents=True, exist_ok=True)
    open_claims[["claim_no", "p_abusive"]].to_csv(config.out, index=False)
    log.info("wrote %s", config.out)


if __name__ == "__main__":
    run(Config())
