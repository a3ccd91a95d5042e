#!/bin/sh
# Installs what tests need from outside Python: a browser, the sandbox that runs shell payloads, a Redis server,
# and a compiler for the foreign model server of the soak tests.
# As root on Debian it installs them; elsewhere it says what to install, and those tests skip and say so.
set -eu
missing=""
command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 ||
    missing="$missing chromium-headless-shell fonts-noto-cjk fonts-noto-color-emoji"
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing for the tests:$missing"
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of package names on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "tests that need these will be skipped; to run them install:$missing"
fi
