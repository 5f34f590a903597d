// SPDX-License-Identifier: Apache-2.0

// Declares what `import RainKit` brings into a program: the client, and the types of other modules that its calls need by name. The names
// are listed in Tests/public-names.txt; StructureTests compares them.
//
// General names are not exported, since programs have types of such names themselves: `Board` is in ESPProvisioning, `Transport` in
// Protocomm, `Endpoint` in ProtocommCore, `Node` in RainMaker, `Secret` in RainCore. Three of them have longer names at the end of this
// file, for programs that import only RainKit.
import ESPProvisioning
import RainCore
import RainMaker
@_exported import struct ESPProvisioning.AccessPoint
@_exported import struct ESPProvisioning.BoardCredentials
@_exported import struct ESPProvisioning.BoardIdentity
@_exported import class ESPProvisioning.DeviceLog
@_exported import enum ESPProvisioning.DeviceLogEvent
@_exported import struct ESPProvisioning.DeviceLogLine
@_exported import struct ESPProvisioning.DeviceSummary
@_exported import enum ESPProvisioning.DeviceTrouble
@_exported import struct ESPProvisioning.JoinedNetwork
@_exported import struct ESPProvisioning.NetworkProtection
@_exported import struct ESPProvisioning.QRPayload
@_exported import struct ESPProvisioning.SSID
@_exported import struct ESPProvisioning.WiFiNetwork
@_exported import enum ESPProvisioning.WiFiProgress
@_exported import struct IdentityProviders.ProviderCapability
@_exported import struct IdentityProviders.ProviderDefinition
@_exported import struct IdentityProviders.ProviderRegistry
@_exported import struct IdentityProviders.ProviderSettings
@_exported import struct Protocomm.BoardError
@_exported import struct ProtocommTransports.BluetoothError
@_exported import struct RainAccount.AccountError
@_exported import enum RainAccount.AccountEvent
@_exported import class RainAccount.AccountSession
@_exported import struct RainAccount.AuthenticationChallenge
@_exported import protocol RainAccount.AuthorizationUserAgent
@_exported import struct RainAccount.BrowserLauncher
@_exported import enum RainAccount.ChallengeAnswer
@_exported import protocol RainAccount.ChallengeResolver
@_exported import struct RainAccount.CredentialKey
@_exported import protocol RainAccount.CredentialStore
@_exported import class RainAccount.FileCredentialStore
@_exported import class RainAccount.InMemoryCredentialStore
@_exported import struct RainAccount.LoopbackUserAgent
@_exported import struct RainAccount.PasteUserAgent
@_exported import struct RainAccount.RequestProof
@_exported import struct RainAccount.SavedSession
@_exported import struct RainAccount.ServiceURL
@_exported import struct RainAccount.SessionStatus
@_exported import struct RainAccount.SignInChallenge
@_exported import enum RainAccount.SignInCredentials
@_exported import struct RainAccount.SignOutReport
@_exported import struct RainAccount.SystemWallClock
@_exported import struct RainAccount.UnixTime
@_exported import struct RainAccount.UserInfo
@_exported import protocol RainAccount.WallClock
@_exported import struct RainCore.NodeID
@_exported import struct RainCore.ProofOfPossession
@_exported import enum RainCore.Remedy
@_exported import struct RainCore.RequestID
@_exported import struct RainCore.UserID
@_exported import protocol RainCrypto.CryptoSuite
@_exported import protocol RainCrypto.RandomSource
@_exported import protocol RainHTTP.HTTPClient
@_exported import struct RainHTTP.HTTPError
@_exported import struct RainHTTP.HTTPRequest
@_exported import struct RainHTTP.HTTPResponse
@_exported import class RainIO.ByteStream
@_exported import struct RainIO.ByteStreamError
@_exported import struct RainIO.SerialPortDescription
@_exported import protocol RainIO.StreamOpener
@_exported import enum RainIO.TCPConnection
@_exported import enum RainJSON.JSONValue
@_exported import struct RainMaker.Automation
@_exported import struct RainMaker.Deployment
@_exported import struct RainMaker.FirmwareImage
@_exported import enum RainMaker.ListService
@_exported import enum RainMaker.LiveEvent
@_exported import struct RainMaker.MappingNotes
@_exported import enum RainMaker.MappingStatus
@_exported import struct RainMaker.NodeAlert
@_exported import struct RainMaker.NeoCloud
@_exported import struct RainMaker.NeoOutputs
@_exported import struct RainMaker.NeoServices
@_exported import protocol RainMaker.NodeClaiming
@_exported import protocol RainMaker.NodeCloud
@_exported import struct RainMaker.NodeCommandRecord
@_exported import struct RainMaker.NodeConfiguration
@_exported import struct RainMaker.NodeCredentials
@_exported import struct RainMaker.NodeGroup
@_exported import struct RainMaker.NodeGroupChange
@_exported import protocol RainMaker.NodeMapping
@_exported import struct RainMaker.NodeMappingDescription
@_exported import struct RainMaker.NodeReport
@_exported import struct RainMaker.ParameterChange
@_exported import struct RainMaker.ParameterError
@_exported import struct RainMaker.ParameterOutcome
@_exported import struct RainMaker.ParameterPath
@_exported import struct RainMaker.RainMakerCloud
@_exported import enum RainMaker.ScheduleTrigger
@_exported import struct RainMaker.SecretParameters
@_exported import enum RainMaker.SeriesAggregate
@_exported import enum RainMaker.SeriesInterval
@_exported import enum RainMaker.SeriesKind
@_exported import struct RainMaker.SeriesRecord
@_exported import struct RainMaker.ServiceEntry
@_exported import enum RainMaker.ServiceOperation
@_exported import enum RainMaker.SharedKind
@_exported import enum RainMaker.SharedRole
@_exported import struct RainMaker.Sharing
@_exported import struct RainMaker.SharingRequest
@_exported import struct RainMaker.UpdateJob
@_exported import struct RainMaker.UpdateJobReport
@_exported import struct RainMaker.UpdateOffer
@_exported import struct RainMaker.UpdateWindow
@_exported import struct RainQRCode.QRCodeError
@_exported import struct RainQRCode.QRMatrix
@_exported import enum RainQRCode.QRScanner

/// The cloud's view of a board. The same type as `RainMaker.Node`.
public typealias RainKitNode = Node

/// One board, over any transport. The same protocol as `ESPProvisioning.Board`.
public typealias RainKitBoard = Board

/// A text or bytes that cannot be printed. The same type as `RainCore.Secret`.
public typealias RainKitSecret = Secret
