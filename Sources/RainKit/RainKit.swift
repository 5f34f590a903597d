// SPDX-License-Identifier: Apache-2.0

// One import for those who put boards into accounts: every module of the client, wired to libcurl and OpenSSL where it needs a
// library (see RainKitTools). Whoever wants less imports the modules by name.
@_exported import ESPProvisioning
@_exported import IdentityProviders
@_exported import Protocomm
@_exported import ProtocommCore
@_exported import ProtocommTransports
@_exported import RainAccount
@_exported import RainCrypto
@_exported import RainCryptoOpenSSL
@_exported import RainDBus
@_exported import RainHTTP
@_exported import RainHTTPCurl
@_exported import RainIO
@_exported import RainMaker

@_exported import RainCore
@_exported import RainQRCode
