# SPDX-License-Identifier: Apache-2.0


class Failed(Exception):
    """A row does not hold; the text says what was expected."""
