// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto

extension OpenSSLCrypto {
    public static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(base, exponent, modulus) { result, base, exponent, modulus, context in
            BN_mod_exp_mont_consttime(result, base, exponent, modulus, context, nil)
        }
    }

    public static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_mul($0, $1, $2, $3, $4) }
    }

    public static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_add($0, $1, $2, $3, $4) }
    }

    public static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try modular(left, right, modulus) { BN_mod_sub($0, $1, $2, $3, $4) }
    }

    public static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial {
        let result = try SecretNumber()
        let factorNumber = try SecretNumber(factor)
        let otherNumber = try SecretNumber(other)
        let summandNumber = try SecretNumber(summand)
        guard let context = BN_CTX_new() else { throw CryptoFailure() }
        defer { BN_CTX_free(context) }
        guard BN_mul(result.pointer, factorNumber.pointer, otherNumber.pointer, context) == 1,
            BN_add(result.pointer, result.pointer, summandNumber.pointer) == 1
        else { throw CryptoFailure() }
        return try result.bytes(count: max(factor.count + other.count, summand.count) + 1)
    }

    private typealias Operation = (
        OpaquePointer, OpaquePointer, OpaquePointer, OpaquePointer, OpaquePointer
    ) -> Int32

    private static func modular(
        _ left: KeyMaterial, _ right: KeyMaterial, _ modulus: [UInt8], _ operation: Operation
    ) throws(CryptoFailure) -> KeyMaterial {
        let result = try SecretNumber()
        let leftNumber = try SecretNumber(left)
        let rightNumber = try SecretNumber(right)
        let modulusNumber = try SecretNumber(KeyMaterial(modulus))
        // The context's scratch numbers hold intermediate secrets; freeing the context clears them.
        guard let context = BN_CTX_secure_new() else { throw CryptoFailure() }
        defer { BN_CTX_free(context) }
        guard
            operation(
                result.pointer, leftNumber.pointer, rightNumber.pointer, modulusNumber.pointer, context) == 1
        else { throw CryptoFailure() }
        return try result.bytes(count: modulus.count)
    }
}

/// A number of libcrypto that is cleared when it is dropped.
private struct SecretNumber: ~Copyable {
    let pointer: OpaquePointer

    init() throws(CryptoFailure) {
        guard let pointer = BN_new() else { throw CryptoFailure() }
        self.pointer = pointer
    }

    init(_ bytes: KeyMaterial) throws(CryptoFailure) {
        let number = bytes.withBytes { BN_bin2bn($0.baseAddress, Int32($0.count), nil) }
        guard let number else { throw CryptoFailure() }
        BN_set_flags(number, BN_FLG_CONSTTIME)
        pointer = number
    }

    deinit { BN_clear_free(pointer) }

    borrowing func bytes(count: Int) throws(CryptoFailure) -> KeyMaterial {
        let pointer = self.pointer
        return try KeyMaterial(count: count) { buffer throws(CryptoFailure) in
            guard BN_bn2binpad(pointer, buffer.baseAddress, Int32(count)) == count else { throw CryptoFailure() }
        }
    }
}
