# SPDX-License-Identifier: Apache-2.0
"""An ESP32-C3 in download mode on a pseudo terminal, as far as esptool looks: synchronisation, registers, the stub, reading and writing flash.

Usage: rom_loader.py LINK FLASH MAC [worn]

LINK becomes a symbolic link to the terminal; FLASH is the file that holds the flash, and is written to as the chip's would be. Worn flash
takes what is written and does not keep it.
Source: Espressif's "Serial Protocol" page of esptool's documentation.
"""

import hashlib
import os
import pty
import struct
import sys
import tty
import zlib

SYNC, READ_REG, WRITE_REG, MEM_END, SECURITY_INFO = 0x08, 0x0A, 0x09, 0x06, 0x14
DEFL_BEGIN, DEFL_DATA, MD5, READ_FLASH = 0x10, 0x11, 0x13, 0xD2
CHIP_ID = 5
FLASH_ID = 0x1640EF  # 4 MiB
EFUSE_MAC, SPI_W0 = 0x60008844, 0x60002058
END = 0xC0


def slip(packet):
    return b"\xc0" + packet.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


class Chip:
    def __init__(self, terminal, flash, mac, is_worn):
        self.terminal, self.flash_path, self.is_worn = terminal, flash, is_worn
        self.flash = bytearray(open(flash, "rb").read())
        number = int(mac, 16)
        self.registers = {EFUSE_MAC: number & 0xFFFFFFFF, EFUSE_MAC + 4: number >> 32, SPI_W0: FLASH_ID}
        self.is_stub = False
        self.input = bytearray()

    def packet(self):
        """The next packet of the host's; everything between packets is dropped."""
        while True:
            start = self.input.find(END)
            end = self.input.find(END, start + 1) if start >= 0 else -1
            if end == start + 1:
                del self.input[: start + 1]
            elif end > 0:
                packet = bytes(self.input[start + 1 : end])
                del self.input[: end + 1]
                return packet.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")
            else:
                try:
                    self.input += os.read(self.terminal, 65536)
                except OSError:
                    return None

    def send(self, packet):
        data = slip(packet)
        while data:
            data = data[os.write(self.terminal, data) :]

    def answer(self, command, value=0, data=b""):
        data += b"\0\0" if self.is_stub else b"\0\0\0\0"
        self.send(struct.pack("<BBHI", 1, command, len(data), value) + data)

    def run(self):
        while (packet := self.packet()) is not None:
            if len(packet) < 8 or packet[0] != 0:
                continue
            command, body = packet[1], packet[8:]
            if command == SYNC:
                # The boot loader starts without the stub, and answers eight times.
                self.is_stub = False
                for _ in range(8):
                    self.answer(command, 0x20120707)
            elif command == READ_REG:
                self.answer(command, self.registers.get(struct.unpack("<I", body[:4])[0], 0))
            elif command == SECURITY_INFO:
                self.answer(command, 0, struct.pack("<IB7sII", 0, 0, b"\0" * 7, CHIP_ID, 0))
            elif command == MEM_END:
                self.answer(command)
                self.is_stub = True
                self.send(b"OHAI")
            elif command == DEFL_BEGIN:
                self.size, _, _, self.offset = struct.unpack("<IIII", body[:16])
                self.inflate = zlib.decompressobj()
                self.written = bytearray()
                self.answer(command)
            elif command == DEFL_DATA:
                self.written += self.inflate.decompress(body[16:])
                self.answer(command)
                if len(self.written) >= self.size and not self.is_worn:
                    self.flash[self.offset : self.offset + self.size] = self.written[: self.size]
                    with open(self.flash_path, "r+b") as file:
                        file.write(self.flash)
                    print(f"wrote {self.size} bytes to {self.offset:#x}", flush=True)
            elif command == MD5:
                offset, size = struct.unpack("<II", body[:8])
                self.answer(command, 0, hashlib.md5(self.flash[offset : offset + size]).digest())
            elif command == READ_FLASH:
                offset, size, block, _ = struct.unpack("<IIII", body[:16])
                self.answer(command)
                piece = bytes(self.flash[offset : offset + size])
                for begin in range(0, size, block):
                    self.send(piece[begin : begin + block])
                    self.packet()  # how many bytes have arrived
                self.send(hashlib.md5(piece).digest())
            else:
                self.answer(command)


def main():
    link, flash, mac = sys.argv[1:4]
    near, far = pty.openpty()
    tty.setraw(far)
    os.symlink(os.ttyname(far), link)
    print("ready", flush=True)
    Chip(near, flash, mac, sys.argv[4:] == ["worn"]).run()


main()
