# SPDX-License-Identifier: Apache-2.0
"""Requests from a shell: python3 -m omig REQUEST..."""
import sys
from typing import List

import omig


def main(requests: List[str]) -> int:
    """A line for each entry of the replies."""
    if not requests or requests[0] in ("-h", "--help"):
        print("usage: python3 -m omig REQUEST...", file=sys.stderr)
        return 2
    try:
        with omig.connect() as m:
            for text in requests:
                for number, entries in enumerate(m.request(text).actions):
                    for e in entries:
                        print(number, ",".join(e.objects) or "-", e.status,
                              e.text.decode("utf-8", "replace") if e.is_error else e.values)
    except omig.Error as e:
        print(f"omig: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
