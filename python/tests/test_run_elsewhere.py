"""A script that runs "elsewhere" meets another day, and classes that compiled packages accept."""

import json
import subprocess
import sys
import unittest
from datetime import date, datetime, timedelta

from support import HELPERS, FolderTest

SCRIPT = """
import datetime, json, time

known = datetime.datetime.min
now = datetime.datetime.now()
print(json.dumps({
    "times": [str(time) for time in (
        datetime.datetime.fromtimestamp(time.time()), now, datetime.datetime.utcnow(),
        datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None),
        datetime.datetime.combine(datetime.date.today(), now.time()),
    )],
    "own": [type(known) is datetime.datetime, isinstance(now, datetime.date)],
    "sizes": [datetime.datetime.__basicsize__, datetime.date.__basicsize__],
}))
"""


class RunElsewhere(FolderTest):
    def test_the_clock_differs_and_the_classes_of_datetime_are_the_same(self) -> None:
        script = self.write("script.py", SCRIPT)
        wrapper = HELPERS / "leaks" / "run_elsewhere.py"
        command = [sys.executable, "-I", "-B", "-W", "ignore", str(wrapper), str(script)]
        done = subprocess.run(command, check=True, capture_output=True)
        printed = json.loads(done.stdout)
        for shown in printed["times"]:
            later = datetime.fromisoformat(shown) - datetime.now()
            self.assertAlmostEqual(later / timedelta(days=1), 400, delta=1)
        self.assertEqual(printed["own"], [True, True])
        self.assertEqual(printed["sizes"], [datetime.__basicsize__, date.__basicsize__])


if __name__ == "__main__":
    unittest.main()
