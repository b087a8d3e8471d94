"""Forecast of the daily sales of each bakery: the mean of its last days."""

import pandas as pd

from metric import smape

LAST_DAYS = 28
BACKTEST_DAYS = 28


def read_sales():
    return pd.read_csv("data/sales.csv", parse_dates=["date"])


def read_calendar():
    # shops.csv and promotions.csv are there as well, not used yet
    return pd.read_csv("data/test.csv", parse_dates=["date"])


def last_days_mean(history, days=LAST_DAYS):
    """Mean of each shop's sales over the last days of the history."""
    start = history["date"].max() - pd.Timedelta(days=days)
    return history[history["date"] > start].groupby("shop")["sold"].mean()


def forecast(history, future):
    return future["shop"].map(last_days_mean(history)).to_numpy()


def backtest(sales):
    """Forecasts the last four weeks from what came before, and prints the error of each week."""
    cut = sales["date"].max() - pd.Timedelta(days=BACKTEST_DAYS)
    history, future = sales[sales["date"] <= cut], sales[sales["date"] > cut].copy()
    future["forecast"] = forecast(history, future)
    future["week"] = (future["date"] - cut).dt.days.sub(1) // 7 + 1
    print("week   rows   sMAPE")
    print("-------------------")
    for week, part in future.groupby("week"):
        print(f"{week:<4} {len(part):>6} {smape(part['sold'], part['forecast']):>7.2f}")
    print(f"all  {len(future):>6} {smape(future['sold'], future['forecast']):>7.2f}")


def main():
    sales = read_sales()
    backtest(sales)
    calendar = read_calendar()
    calendar["sold"] = forecast(sales, calendar).round(1)
    calendar[["row", "sold"]].to_csv("forecast.csv", index=False)


if __name__ == "__main__":
    main()
