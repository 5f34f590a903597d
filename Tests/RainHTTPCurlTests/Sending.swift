// SPDX-License-Identifier: Apache-2.0

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
