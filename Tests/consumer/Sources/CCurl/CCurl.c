// SPDX-License-Identifier: Apache-2.0
#include "CCurl.h"

int consumer_curl_answer(void) { return 42; }
