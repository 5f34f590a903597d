// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL
import TestSupport
import Testing
import RainCore

@testable import IdentityProviders
@testable import RainAccount

@Suite("WSKey: OCLC's signed requests")
struct WSKeySignatureTests {
    /// OCLC-Developer-Network/oclc-auth-python, `tests/wskey_test.py`.
    private static let library = WSKeySignature(
        key: "CancdeDMjFO9vnzkDrB6WJg1UnyTnkn8lLupLKygr0U1KJLiaAittuVjGRywCDdrsxahv2sbjgKq6hLM",
        secret: Secret("YeZfIJdGYUeatxQOjekRZw=="), hashes: OpenSSLHashes.self)
    /// OCLC's own page on HMAC signatures.
    private static let page = WSKeySignature(
        key: "jdfRzYZbLc8HZXFByyyLGrUqTOOmkJOAPi4tAN0E7xI3hgE2xDgwJ7YPtkwM6W3ol5yz0d0JHgE1G2Wa",
        secret: Secret("UYnwZbmvf3fAXCEa0JryLQ=="), hashes: OpenSSLHashes.self)

    @Test("the vector of OCLC's Python library, with the user in the header")
    func libraryVector() {
        let url =
            "https://worldcat.org/bib/data/1039085?inst=128807&classificationScheme=LibraryOfCongress&holdingLibraryCode=MAIN"
        let header = Self.library.authorization(
            method: "GET", query: QueryItem.items(of: url),
            stamp: .init(timestamp: "1392239490", nonce: "0x16577027"),
            principal: OCLCPrincipal(id: "8eaa9f92-3951-431c-975a-e5dt26b7d232", namespace: "urn:oclc:wms:ad"))
        #expect(
            header.revealString()
                == #"http://www.worldcat.org/wskey/v2/hmac/v1 clientId="CancdeDMjFO9vnzkDrB6WJg1UnyTnkn8lLupLKygr0U1KJLiaAittuVjGRywCDdrsxahv2sbjgKq6hLM", timestamp="1392239490", nonce="0x16577027", signature="+RFPwih61799mpNBJqGhhSbQgd/JRfEinYv81z+CwRY=", principalID="8eaa9f92-3951-431c-975a-e5dt26b7d232", principalIDNS="urn:oclc:wms:ad""#
        )
    }

    @Test("the vector of OCLC's documentation, to the last byte of the header")
    func pageVector() {
        let header = Self.page.authorization(
            method: "GET", query: [QueryItem("inst", "128807")],
            stamp: .init(timestamp: "1361408273", nonce: "981333313127278655903652665637"))
        #expect(
            header.revealString()
                == #"http://www.worldcat.org/wskey/v2/hmac/v1 clientId="jdfRzYZbLc8HZXFByyyLGrUqTOOmkJOAPi4tAN0E7xI3hgE2xDgwJ7YPtkwM6W3ol5yz0d0JHgE1G2Wa", timestamp="1361408273", nonce="981333313127278655903652665637", signature="5O6SRig58wqm6gqEu3oSODVte6Albon9CCvNrZHCoys=""#
        )
    }

    @Test("no query: nothing follows the path, and neither the request's host nor its path is signed")
    func emptyQuery() {
        let signed = WSKeySignature.signed(
            key: "k", method: "GET", query: QueryItem.items(of: "https://worldcat.org/bib/data/1039085"),
            stamp: .init(timestamp: "1392236038", nonce: "0x66a29eea"))
        #expect(
            String(decoding: signed, as: UTF8.self) == "k\n1392236038\n0x66a29eea\n\nGET\nwww.oclc.org\n443\n/wskey\n")
    }

    @Test(
        "each parameter has its line, sorted and escaped",
        arguments: [
            // A value may contain an equals sign: everything after the first one is the value.
            ("https://a/?token=a=b==", ["token=a%3Db%3D%3D"]),
            // A name may be repeated: no value is lost, and the values decide their order.
            ("https://a/?scope=b&inst=1&scope=a", ["inst=1", "scope=a", "scope=b"]),
            ("https://a/?b=x%20y&a=%7E*", ["a=~%2A", "b=x%20y"]), ("https://a/?q=1+1", ["q=1%2B1"]),
            ("https://a/?flag&empty=#fragment=1", ["empty=", "flag="]),
            (
                "https://a/?redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb",
                ["redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb"]
            ),
        ])
    func parameters(url: String, lines: [String]) {
        let signed = WSKeySignature.signed(
            key: "k", method: "POST", query: QueryItem.items(of: url), stamp: .init(timestamp: "1", nonce: "2"))
        let all = String(decoding: signed, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(all.dropFirst(8).dropLast().map(String.init) == lines)
    }

    @Test("no two stamps of one second are the same")
    func stamps() {
        var random = OpenSSLRandom()
        let now = UnixTime(seconds: 1_700_000_000.9)
        let stamps = (0..<100).map { _ in WSKeySignature.Stamp(at: now, random: &random) }
        #expect(Set(stamps.map(\.nonce)).count == 100)
        #expect(stamps.allSatisfy { $0.timestamp == "1700000000" && $0.nonce.utf8.count == 32 })
    }

    @Test(
        "a user's id that would break out of its quotation marks is refused",
        arguments: ["", "a\"b", "a\\b", "a\nb", "a b"])
    func principals(id: String) {
        #expect(OCLCPrincipal(id: id, namespace: "urn:oclc:platform:128807") == nil)
        #expect(OCLCPrincipal(id: "p-ada", namespace: id) == nil)
    }
}
