// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum SerialPortModule {
    public static let name = "SerialPort"
}
