"""Read runs of mlagentbench: see docs/how-to/analyse-results.md."""

from .errors import StoreError
from .events import events
from .tables import calls, grades, restore, runs, steps

__all__ = ["StoreError", "calls", "events", "grades", "restore", "runs", "steps"]
