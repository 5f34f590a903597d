// One import for those who put boards into accounts: every room of the client, wired to libcurl and OpenSSL where it needs a
// library (see Boards and Accounts in this folder). Whoever wants less imports the rooms by name.
@_exported import Account
@_exported import CryptoOpenSSL
@_exported import ESPProvisioning
@_exported import HTTPCore
@_exported import HTTPCurl
@_exported import Hashing
@_exported import HashingOpenSSL
@_exported import Onboarding
@_exported import Protocomm
@_exported import ProtocommBLE
@_exported import ProtocommSerial
@_exported import ProtocommSoftAP
@_exported import RainMaker
@_exported import RainMakerConsole
@_exported import SecretService
@_exported import SerialPort
@_exported import Vocabulary
