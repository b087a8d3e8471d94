"""Largest drawdown of every account in a ledger of bookings.

The monthly report calls `largest_drawdowns` on the whole ledger. It is right, but slow.
"""

import time

import numpy as np

N_BOOKINGS = 6_000
N_ACCOUNTS = 200


def balance_history(account, accounts, days, cents):
    """Balances of one account after each of its bookings, by day; bookings of one day keep their order."""
    bookings = []
    for i in range(len(accounts)):
        if accounts[i] == account:
            bookings.append((days[i], i, cents[i]))
    bookings.sort()
    balance = 0
    history = []
    for _, _, amount in bookings:
        balance = balance + amount
        history.append(balance)
    return history


def largest_drawdowns(accounts, days, cents, n_accounts):
    """How far did the balance of each account fall below an earlier high?

    accounts: int64 array, the account of each booking, 0 .. n_accounts - 1
    days: int64 array, the day of each booking, in no order
    cents: int64 array, the amount of each booking; negative for withdrawals
    n_accounts: number of accounts

    Every account starts with a balance of 0, which counts as its first high.
    Returns an int64 array with the largest drawdown of each account in cents, 0 if it never fell.
    """
    result = np.zeros(n_accounts, dtype=np.int64)
    for account in range(n_accounts):
        high = 0
        worst = 0
        for balance in balance_history(account, accounts, days, cents):
            if balance > high:
                high = balance
            if high - balance > worst:
                worst = high - balance
        result[account] = worst
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
