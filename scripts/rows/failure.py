# SPDX-License-Identifier: Apache-2.0


class Failed(Exception):
    """Raised if a row does not hold. The text names the expectation."""
