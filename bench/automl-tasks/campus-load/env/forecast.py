"""Climatology forecast: the mean of each meter and hour of the day."""

import argparse
import json

import pandas as pd


def wape(actual, forecast):
    return 100 * (actual - forecast).abs().sum() / actual.abs().sum()


def add_hour_of_day(frame):
    return frame.assign(hour_of_day=frame["hour"].dt.hour)


def fit_profile(history, days):
    recent = history[history["hour"] >= history["hour"].max() - pd.Timedelta(days=days)]
    return recent.groupby(["meter", "hour_of_day"])["kwh"].mean().rename("forecast").reset_index()


def apply_profile(profile, frame):
    return frame.merge(profile, on=["meter", "hour_of_day"], how="left")["forecast"].to_numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="data")
    parser.add_argument("--days", type=int, default=60, help="length of the history to average over")
    parser.add_argument("--backtest-weeks", type=int, default=6)
    parser.add_argument("--out", default="forecast_kwh.csv")
    args = parser.parse_args()

    history = add_hour_of_day(pd.read_csv(f"{args.data}/meters.csv", parse_dates=["hour"]).dropna(subset=["kwh"]))
    future = add_hour_of_day(pd.read_csv(f"{args.data}/forecast.csv", parse_dates=["hour"]))

    cut = history["hour"].max() - pd.Timedelta(weeks=args.backtest_weeks)
    past, held = history[history["hour"] <= cut], history[history["hour"] > cut].copy()
    held["forecast"] = apply_profile(fit_profile(past, args.days), held)
    report = {"backtest": {"from": str(held["hour"].min()), "rows": len(held)}}
    report["backtest"]["wape"] = round(wape(held["kwh"], held["forecast"]), 3)
    report["by_meter"] = {m: round(wape(g["kwh"], g["forecast"]), 2) for m, g in held.groupby("meter")}
    print(json.dumps(report, indent=2))

    future["kwh"] = apply_profile(fit_profile(history, args.days), future)
    future[["row_id", "kwh"]].to_csv(args.out, index=False)


if __name__ == "__main__":
    main()
