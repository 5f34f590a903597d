# SPDX-License-Identifier: Apache-2.0
"""Prints what esptool's resets do with a port's lines, as JSON: for each a list of [DTR, RTS, seconds until the next change].

The port is a stand-in that writes down what it is told.
"""
import json
import time

from esptool.reset import HardReset


class Port:
    name = "stand-in"

    def __init__(self):
        # As esptool's own connecting leaves the lines: a restart does not touch DTR.
        self.dtr = self.rts = False
        self.steps = []

    def isOpen(self):
        return True

    def wait(self, seconds):
        if self.steps:
            self.steps[-1][2] += seconds

    def change(self):
        # Two lines that are set one after the other are one step.
        if self.steps and self.steps[-1][2] == 0:
            self.steps[-1][:2] = [self.dtr, self.rts]
        else:
            self.steps.append([self.dtr, self.rts, 0])

    def setDTR(self, state):
        self.dtr = state
        self.change()

    def setRTS(self, state):
        self.rts = state
        self.change()


def steps(make):
    port = Port()
    time.sleep = port.wait
    make(port)()
    return port.steps


print(json.dumps({
    "bridge": steps(lambda port: HardReset(port)), "usb": steps(lambda port: HardReset(port, uses_usb=True))}))
