// SPDX-License-Identifier: Apache-2.0
/// The consumer's own wrapper of a C library.
int consumer_curl_answer(void);
