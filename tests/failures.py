#!/usr/bin/env python3
"""Lists the tests that failed, each with its first messages:  python3 tests/failures.py RESULTS.xml

RESULTS.xml is what `ctest --output-junit` writes."""

import re
import sys
import xml.etree.ElementTree

MESSAGES = 4  # of a test

cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase")
for case in cases:
    if case.get("status") != "fail":
        continue
    failure = case.find("failure")
    print(f"{case.get('name')} ({float(case.get('time')):.0f} s): {failure.get('message') or 'failed'}")
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    said = [line for line in lines if re.search(r"error|fail|expected|values:", line, re.IGNORECASE)]
    for line in (said or lines[-MESSAGES:])[:MESSAGES]:
        print(f"    {line[:200]}")
