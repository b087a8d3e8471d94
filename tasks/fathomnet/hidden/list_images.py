"""Lists the labelled images, of which the competition provides only URLs."""

import argparse
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from labelled_images import read_records

# The database has moved between these hosts; the paths have stayed the same.
HOSTS = ("fathomnet.org", "database.fathomnet.org")


def addresses(url: str) -> list[str]:
    """The original URL, then the same path on the other hosts."""
    parts = urlsplit(url)
    others = [host for host in HOSTS if host != parts.hostname]
    return [url, *(urlunsplit(("https", host, parts.path, "", "")) for host in others)]


def main() -> None:
    parser = argparse.ArgumentParser(description="List the images.")
    parser.add_argument("--downloads", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    arguments = parser.parse_args()
    with arguments.list.open("w", encoding="utf-8") as file:
        for record in read_records(arguments.downloads):
            line = {"file": record.file, "urls": addresses(record.url)}
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
