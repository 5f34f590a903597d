# SPDX-License-Identifier: Apache-2.0

# Shared functions of the scripts in this folder that follow the identity systems' documents with curl. To be sourced.

request() { curl -sS --max-time 10 --noproxy '*' "$@"; }
# Prints the target of a redirect as the server wrote it: curl's own %{redirect_url} adds a slash after the host.
location() { request -o /dev/null -D - "$@" | tr -d '\r' | sed -n 's/^Location: //p'; }
# Prints one value of the JSON on standard input, by its path: data.email, 0.userId.
member() { python3 -c 'import json,sys
value = json.load(sys.stdin)
for name in sys.argv[1].split("."): value = value[int(name) if isinstance(value, list) else name]
print(value)' "$1"; }
fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
