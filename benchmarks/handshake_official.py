# SPDX-License-Identifier: Apache-2.0
"""The official client's Security 2 handshake: CPU milliseconds of its part, one a line.

Run by its own Python (.build/official-client/bin/python): handshake_official.py DEVICE COUNT, where DEVICE is the `handshake`
program of this folder, which plays the board. Only the client's own calls are timed, by the clock of this process's CPU time.
"""

import subprocess
import sys
import time

from rmaker_tools.common.security.security2 import Security2

program, count = sys.argv[1], int(sys.argv[2])
device = subprocess.Popen([program, "device"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(request):
    device.stdin.write(request.encode("latin-1").hex() + "\n")
    device.stdin.flush()
    return bytes.fromhex(device.stdout.readline()).decode("latin-1")


for _ in range(count):
    spent, response = 0.0, None
    before = time.process_time()
    client = Security2(1, "wifiprov", "abcd1234", False)
    spent += time.process_time() - before
    while True:
        before = time.process_time()
        request = client.security_session(response)
        spent += time.process_time() - before
        if request is None:
            break
        response = answer(request)
    print(spent * 1000)
device.stdin.close()
device.wait()
