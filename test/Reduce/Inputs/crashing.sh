#!/bin/sh
# As interesting.sh, but every fifth run kills the process that edits, as a pass or a
# verifier that crashes does. The runs are counted in a file, the first argument.
echo >> "$1"
[ $(($(wc -l < "$1") % 5)) = 3 ] && kill -SEGV $PPID
exec "$(dirname "$0")/interesting.sh" "$2"
