"""Largest drawdown of every account: one sort, then sums and maxima along the whole sorted ledger."""

import time

import numpy as np

N_BOOKINGS = 6_000
N_ACCOUNTS = 200


def largest_drawdowns(accounts, days, cents, n_accounts):
    """Largest fall of each account's balance below an earlier high, which is at least 0."""
    result = np.zeros(n_accounts, dtype=np.int64)
    if len(accounts) == 0:
        return result
    order = np.lexsort((days, accounts))  # stable: bookings of one day keep their order
    owner, amount = accounts[order], cents[order]
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    sizes = np.diff(np.r_[first, len(owner)])
    total = np.cumsum(amount)
    balance = total - np.repeat(total[first] - amount[first], sizes)
    # Lifting each account above all of the one before lets one running maximum serve all.
    span = int(np.abs(balance).max()) + 1
    lift = np.repeat(np.arange(len(first)) * 2 * span, sizes)
    high = np.maximum.accumulate(np.maximum(balance, 0) + lift) - lift
    result[owner[first]] = np.maximum.reduceat(high - balance, first)
    return result


def example_ledger(seed=0, n_bookings=N_BOOKINGS, n_accounts=N_ACCOUNTS):
    rng = np.random.default_rng(seed)
    accounts = rng.integers(0, n_accounts, n_bookings)
    days = rng.integers(0, 365, n_bookings)
    cents = rng.integers(-50_000, 52_000, n_bookings)
    return accounts, days, cents, n_accounts


if __name__ == "__main__":
    ledger = example_ledger()
    began = time.perf_counter()
    answer = largest_drawdowns(*ledger)
    took = time.perf_counter() - began
    print("checksum", int(answer.sum()), "max", int(answer.max()))  # must stay the same
    print("took %.3f s" % took)
