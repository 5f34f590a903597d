# SPDX-License-Identifier: Apache-2.0
"""Compares tables of rainctl node history with what pandas computes of the same records.

  series_reference.py RECORDS ZONE < QUESTIONS

RECORDS is a file of cloud-sim's --series. Each line of QUESTIONS is a JSON object: name, kind, aggregate, every, differential, reset, from and
to (epoch seconds), and csv, which is what rainctl printed. Prints the number of compared values, and each difference.
"""
import io
import json
import sys

import pandas as pd

RULES = {"minute": "min", "hour": "h", "day": "D", "week": "W-MON", "month": "MS", "year": "YS"}
FUNCTIONS = {"avg": "mean", "latest": "last"}


def load(path):
    series = {}
    for line in open(path):
        entry = json.loads(line)
        values = series.setdefault((entry.get("kind", "tsdata"), entry["name"]), {})
        values.update((record["t"], record["v"]) for record in entry["records"])
    return series


def expected(values, question, zone):
    index = pd.to_datetime(sorted(values), unit="s", utc=True)
    result = pd.Series([values[time] for time in sorted(values)], index=index)
    if question["differential"]:
        raw = result
        result = raw.diff()
        if question["reset"]:
            result = result.where(~(result < 0), raw)
        result = result.dropna()
    start, end = (pd.Timestamp(question[name], unit="s", tz="UTC") for name in ("from", "to"))
    result = result[(result.index >= start) & (result.index < end)]
    every = question["every"]
    if every is None:
        return result
    # Hours are hours of their own when a clock shows one of them twice; other units are those of the zone's calendar.
    if every not in ("hour", "minute"):
        result = result.tz_convert(zone)
    groups = result.resample(RULES[every], label="left", closed="left")
    counts = groups.count()
    function = FUNCTIONS.get(question["aggregate"], question["aggregate"])
    return getattr(groups, function)()[counts > 0]


def main():
    series, zone = load(sys.argv[1]), sys.argv[2]
    compared = 0
    for line in sys.stdin:
        question = json.loads(line)
        label = {key: value for key, value in question.items() if key != "csv"}
        wanted = expected(series[(question["kind"], question["name"])], question, zone)
        table = pd.read_csv(io.StringIO(question["csv"]))
        times = pd.to_datetime(table["time"], utc=True)
        if len(table) != len(wanted):
            print(f"{label}: {len(table)} values, but {len(wanted)} of pandas")
            continue
        for time, value, (own_time, own_value) in zip(times, table["value"], wanted.items()):
            compared += 1
            if time != own_time or abs(value - own_value) > 1e-9 * max(1, abs(own_value)):
                print(f"{label}: {time} {value}, but {own_time} {own_value} of pandas")
                break
    print(f"compared {compared}")


main()
