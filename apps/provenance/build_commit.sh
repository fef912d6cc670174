#!/bin/sh
# Writes the commit that a build was made from as a C header: build_commit.sh SOURCE-ROOT HEADER. Runs with every
# build, so it costs one git call and leaves an unchanged header untouched.
commit=$(git -C "$1" describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null) || commit=unknown
line="#define BUILD_COMMIT \"$commit\""
[ "$(cat "$2" 2>/dev/null)" = "$line" ] || printf '%s\n' "$line" >"$2"
