#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TLS in front of a server on this machine, as the real cloud has it: tls_front.py UPSTREAM-PORT CERTIFICATE KEY. Says its port in one line of JSON."""

import asyncio
import contextlib
import json
import ssl
import sys


async def pump(reader, writer):
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        writer.close()


async def main(port, certificate, key):
    async def accept(reader, writer):
        upstream = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, upstream[1]), pump(upstream[0], writer))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
