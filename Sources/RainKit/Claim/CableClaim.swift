// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMaker

extension RainKitClient {
    /// Claims a board over its cable instead of letting its firmware do it. Reads the board's address, makes its key here, has the cloud
    /// certify the key, and writes both into the board's flash.
    ///
    /// ```swift
    /// let claim = try await kit.claimOverCable(CableClaimRequest(port: "/dev/ttyUSB0")) { print($0) }
    /// print(claim.node)
    /// ```
    ///
    /// Espressif's esptool and esp-idf-nvs-partition-gen do the work at the boot loader; a Python of this machine must have both. They are
    /// tried before the claim, because each claim counts. The same board gets the same node id each time, and a new certificate.
    ///
    /// The key is in a private folder below ``RainKitConfiguration/state`` until the board has it. If something fails after the cloud has
    /// certified it, the error's cause is ``RainKitError/Cause/unfinishedClaim(_:)``, which names the files that are kept.
    ///
    /// - Parameter report: is called as the claim proceeds.
    /// - Throws: `RainKitError`. Its `reason` is, among others, `unsupported` for a deployment without a claim service,
    ///   `not_signed_in`, `no_program`, `no_esptool`, `no_port`, `no_boot_loader`, `no_mac`, `no_partition_table`,
    ///   `no_factory_partition`, `no_image`, `esptool_failed`, `cannot_write`, `deadline`.
    @discardableResult
    public func claimOverCable(
        _ request: CableClaimRequest = CableClaimRequest(),
        report: @escaping @Sendable (CableClaimEvent) -> Void = { _ in }
    ) async throws -> CableClaim {
        do {
            var run = CableClaimRun(client: self, request: request, report: report)
            return try await run.run()
        } catch {
            throw RainKitError(wrapping: error)
        }
    }
}

/// The board to claim over its cable, and where its credentials go.
public struct CableClaimRequest: Sendable {
    /// The serial port: a path, or an address of pyserial's such as `rfc2217://host`. Nil means the only port that may have a board.
    public var port: String?
    /// The board's MAC address as claim services write it: twelve hexadecimal digits, `7CDFA1000042`. The boot loader reports it if nil.
    public var mac: String?
    /// The address of the credentials in the flash, in bytes, a multiple of 4096. The board's partition table names it if nil.
    public var flashAddress: UInt32?
    /// A new file that gets the image of the credentials; the board's flash is not written then. With ``mac`` no board is needed.
    public var image: String?
    /// The Python that has Espressif's tools: a name or a path.
    public var python: String
    /// The variables of the tools. If nil, those of the client's configuration without the variables that hold clients' secrets.
    public var environment: [String: String]?
    /// The time for everything.
    public var deadline: Duration

    public init(
        port: String? = nil, mac: String? = nil, flashAddress: UInt32? = nil, image: String? = nil,
        python: String = "python3", environment: [String: String]? = nil, deadline: Duration = .seconds(60)
    ) {
        self.port = port
        self.mac = mac
        self.flashAddress = flashAddress
        self.image = image
        self.python = python
        self.environment = environment
        self.deadline = deadline
    }

    /// Why the request cannot work; nil if it can.
    var problem: String? {
        if let mac,
            mac.utf8.count != 12 || !mac.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0) })
        {
            return "A MAC address must have twelve hexadecimal digits, in capitals, such as 7CDFA1000042."
        }
        if let flashAddress, flashAddress % 4096 != 0 {
            return
                "The address for the credentials must be a multiple of 4096, because flash is erased in sectors of that size."
        }
        return nil
    }
}

/// A step of a claim over the cable that begins.
public enum CableClaimEvent: Sendable, Equatable {
    /// The boot loader of the board at this port is asked for the board's address and its partition table.
    case askingBootLoader(port: String)
    /// The cloud is asked to certify a key for the board with this MAC address.
    case claiming(mac: String)
    /// The credentials are written into the flash: so many bytes, at this address.
    case writing(bytes: UInt32, address: UInt32)
}

/// A board that was claimed over its cable.
public struct CableClaim: Sendable, Equatable {
    /// Where the board's credentials are.
    public enum Place: Sendable, Equatable {
        /// In the flash of the board at this port, at this address in bytes.
        case flash(port: String, address: UInt32)
        /// In this file, which has the board's private key. It belongs into the partition `fctry`; delete it afterwards.
        case file(String)
    }

    /// The node id that the board has from now on.
    public var node: NodeID
    /// The board's MAC address: twelve hexadecimal digits.
    public var mac: String
    /// Where its credentials are.
    public var place: Place

    public init(node: NodeID, mac: String, place: Place) {
        self.node = node
        self.mac = mac
        self.place = place
    }
}

/// A claim over the cable that failed after the cloud had certified the board's key, and the files that finish it.
///
/// The commands are a program and its arguments. They work in any folder; set `PYTHONSAFEPATH=1` for them, so that Python loads no modules
/// from there. Delete the files when the board has its credentials.
public struct UnfinishedClaim: Sendable {
    /// The credentials that are kept on this machine, in private files.
    public enum Kept: Sendable, Equatable {
        /// The image of the partition, in this file. It has the board's private key.
        case image(String)
        /// The rows from which the image is made, in this file, and the file for the image. Both have the board's private key.
        case rows(String, image: String)
        /// Nothing: the key is lost, and the board has to be claimed again.
        case nothing
    }

    /// Why the claim was not finished.
    public var error: RainKitError
    /// The node id that the board was claimed as.
    public var node: NodeID
    /// The board's credentials, as far as they are kept.
    public var kept: Kept
    /// Makes the image from the rows; nil unless ``kept`` are rows.
    public var makingImage: [String]?
    /// Writes the image into the board's flash; nil if the request was for a file.
    public var writingImage: [String]?

    public init(
        error: RainKitError, node: NodeID, kept: Kept, makingImage: [String]? = nil, writingImage: [String]? = nil
    ) {
        self.error = error
        self.node = node
        self.kept = kept
        self.makingImage = makingImage
        self.writingImage = writingImage
    }

    /// One or two sentences for a person, without the commands.
    var message: String {
        let claimed = "\(error.message.asSentence) The board is claimed as the node \(node.rawValue.onOneLine)"
        return switch kept {
        case .image(let path):
            "\(claimed). The image, with the board's private key, is kept in \(path.withoutControls)."
        case .rows(let path, _):
            "\(claimed). The credentials, with the board's private key, are kept in \(path.withoutControls)."
        case .nothing: "\(claimed), but the board's key was lost. Claim the board again."
        }
    }
}
