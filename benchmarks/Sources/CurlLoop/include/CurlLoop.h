// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Sends `count` GET requests with these header lines, one after the other on one connection, by libcurl's easy interface.
/// Returns the seconds it took, or -1 where one did not answer 200.
double curl_loop(const char *url, const char *const *headers, int header_count, int count);
