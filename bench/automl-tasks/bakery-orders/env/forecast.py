"""Forecasts the orders of the coming weeks; see settings.json."""

import json

from averages import MovingAverage
from series import load, split_last_weeks, wape


def main():
    with open("settings.json") as file:
        settings = json.load(file)
    orders = load(settings["orders"])
    coming = load(settings["coming"])

    def make():
        return MovingAverage(settings["average_over_weeks"], settings["promo_uplift"])

    past, held_back = split_last_weeks(orders, settings["horizon_weeks"])
    forecast = make().fit(past).predict(held_back)
    print(f"{len(orders)} rows, {orders.groupby(['shop', 'item']).ngroups} series")
    for item in sorted(held_back["item"].unique()):
        chosen = held_back["item"] == item
        print(f"  {item:<10} WAPE {100 * wape(held_back['units'][chosen], forecast[chosen]):5.1f} %")
    print(f"validation WAPE (last {settings['horizon_weeks']} weeks) = {wape(held_back['units'], forecast):.4f}")

    coming["forecast"] = make().fit(orders).predict(coming).round(2)
    coming[["row", "forecast"]].to_csv(settings["output"], index=False)


main()
