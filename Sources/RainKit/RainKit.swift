// SPDX-License-Identifier: Apache-2.0

// One import for those who put boards into accounts: every module of the client, wired to libcurl and OpenSSL where it needs a
// library (see RainKitTools). Whoever wants less imports the modules by name.
@_exported import BrowserSignIn
@_exported import IdentityProviders
@_exported import RainAccount
@_exported import RainByteStream
@_exported import ProtocommWire
@_exported import RainOAuth
@_exported import RainMaker
@_exported import RainCryptoOpenSSL
@_exported import ESPDeviceLog
@_exported import ESPProvisioning
@_exported import RainHTTP
@_exported import RainHTTPCurl
@_exported import RainCrypto
@_exported import RainDBus
@_exported import RainOnboarding
@_exported import Protocomm
@_exported import ProtocommBLE
@_exported import ProtocommSerial
@_exported import ProtocommSoftAP

@_exported import RainMakerConsole
@_exported import ImprovSerial
@_exported import RainQRCode
@_exported import RainSecretService
@_exported import RainSerialPort
@_exported import RainCore
