"""Reads the logs of Inspect AI in a folder into a table, a row a sample.

Samples are read whole, as reports of steps are. Argument: log folder.
"""

import sys

from inspect_ai.analysis import samples_df

table = samples_df(sys.argv[1], full=True, quiet=True)
print(table.to_csv(index=False))
