# SPDX-License-Identifier: Apache-2.0
"""The rows that can be judged, by their names in docs/internals/identity.md."""

rows = {}


def row(name):
    def add(judge):
        assert name not in rows, name
        rows[name] = judge
        return judge

    return add
