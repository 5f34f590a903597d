#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes srp-traps.json: Security 2 handshakes in which a number is shorter than usual.

An implementation of SRP-6a after RFC 5054 that shares nothing with the Swift one but the specification. Run it again to
get the same file.
"""
import hashlib
import json
import pathlib

# The 3072-bit group of RFC 5054 is group 15 of RFC 3526, which defines it by the digits of pi.
def arctan_inverse(x, one):
    term = total = one // x
    n, sign = 3, -1
    while term:
        term //= x * x
        total += sign * (term // n)
        n, sign = n + 2, -sign
    return total

ONE = 1 << (2942 + 64)
PI = 4 * (4 * arctan_inverse(5, ONE) - arctan_inverse(239, ONE)) >> 64
N = 2**3072 - 2**3008 - 1 + 2**64 * (PI + 1690314)
G = 5

def h(*parts):
    return hashlib.sha512(b"".join(parts)).digest()

def number(data):
    return int.from_bytes(data, "big")

def pad(value):
    return value.to_bytes(384, "big")

def shortest(value):
    return value.to_bytes((value.bit_length() + 7) // 8, "big")

def secret(name, counter):
    return hashlib.sha256(f"{name} {counter}".encode()).digest()

def handshake(a, b, salt, verifier, x, username=b"wifiprov"):
    public_a = pow(G, number(a), N)
    k = number(h(pad(N), pad(G)))
    public_b = (k * verifier + pow(G, number(b), N)) % N
    u = number(h(pad(public_a), pad(public_b)))
    s_device = pow(public_a * pow(verifier, u, N), number(b), N)
    s_client = pow(public_b - k * pow(G, x, N), number(a) + u * x, N)
    assert s_device == s_client
    key = h(shortest(s_device))
    wire_a, wire_b = pad(public_a), shortest(public_b)
    group = bytes(p ^ q for p, q in zip(h(pad(N)), h(pad(G))))
    m1 = h(group, h(username), salt, wire_a, wire_b, key)
    m2 = h(wire_a, m1, key)
    return {"a": a, "b": b, "salt": salt, "verifier": pad(verifier), "A": wire_a, "B": wire_b, "S": shortest(s_device),
            "M1": m1, "M2": m2}

def standard_x(salt, password):
    return number(h(salt, h(b"wifiprov:" + password)))

def find(condition, make):
    counter = 0
    while True:
        result = make(counter)
        if result is not None and condition(result):
            return result
        counter += 1

PASSWORD = b"abcd1234"
SALT = bytes.fromhex("031a2b3c4d5e6f708192a3b4c5d6e7f8")
X = standard_x(SALT, PASSWORD)
V = pow(G, X, N)
A0, B0 = secret("a", 0), secret("b", 0)
cases = {}

a = find(lambda a: pow(G, number(a), N) < 2**3064, lambda n: secret("a", n))
cases["A begins with 00"] = handshake(a, B0, SALT, V, X)

k = number(h(pad(N), pad(G)))
b = find(lambda b: (k * V + pow(G, number(b), N)) % N < 2**3064, lambda n: secret("b", n))
cases["B has 383 bytes"] = handshake(A0, b, SALT, V, X)

cases["S begins with 00"] = find(lambda c: len(c["S"]) < 384, lambda n: handshake(secret("s", n), B0, SALT, V, X))

zero_salt = bytes([0]) + SALT[1:]
x = standard_x(zero_salt, PASSWORD)
cases["the salt begins with 00"] = handshake(A0, B0, zero_salt, pow(G, x, N), x)

short_salt = SALT[:8]
x = standard_x(short_salt, PASSWORD)
cases["the salt has 8 bytes"] = handshake(A0, B0, short_salt, pow(G, x, N), x)

for case in cases.values():
    case["passwordHash"], case["password"] = "standard", PASSWORD

# esp_srp_gen_salt_verifier: the drawn salt began with 00, the verifier is over the other 15 bytes, a stray byte follows.
x = standard_x(SALT[:15], PASSWORD)
cases["the verifier was made without the salt's last byte"] = handshake(A0, B0, SALT, pow(G, x, N), x) | {
    "passwordHash": "saltWithoutLastByte", "password": PASSWORD}

# The Python tools hash numbers: leading zeros of the salt and of the inner hash are gone.
password = find(lambda p: h(b"wifiprov:" + p)[0] == 0, lambda n: b"pass%d" % n)
inner = shortest(number(h(b"wifiprov:" + password)))
x = number(h(SALT, inner))
cases["the verifier was made from a short inner hash"] = handshake(A0, B0, SALT, pow(G, x, N), x) | {
    "passwordHash": "withoutLeadingZeros", "password": password}
x = number(h(shortest(number(zero_salt)), inner))
cases["the verifier was made from a short inner hash and a short salt"] = handshake(
    A0, B0, zero_salt, pow(G, x, N), x) | {"passwordHash": "withoutLeadingZeros", "password": password}

out = {name: {key: value.hex() if isinstance(value, bytes) else value for key, value in case.items()}
       for name, case in cases.items()}
path = pathlib.Path(__file__).with_name("srp-traps.json")
path.write_text(json.dumps(out, indent=1) + "\n")
