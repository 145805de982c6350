#!/bin/sh
# Runs nginx as two processes: one for the streams, one for everything else. On SIGQUIT, which docker sends, nginx ends when every request
# has been answered. A stream is never answered in full, so a page that is open would hold the end up. Here SIGQUIT ends the streams at
# once; then the sales in flight are answered, as ever. When one of the two ends by itself, so does the other, and docker starts both again.
here=$(cd "$(dirname "$0")" && pwd)
run=$(mktemp -d)

nginx -p "$run" -e stderr -c "$here/streams.conf" -g 'daemon off; pid streams.pid;' &
streams=$!
nginx -p "$run" -e stderr -c "$here/nginx.conf" -g 'daemon off; pid front.pid;' &
front=$!
told=
trap 'told=yes; kill -QUIT $front; kill $streams' QUIT
trap 'told=yes; kill $front $streams' TERM INT

# a signal interrupts wait, which also finds out who has ended
while [ -z "$told" ] && kill -0 $front 2>/dev/null && kill -0 $streams 2>/dev/null; do
  sleep 1 2>/dev/null &
  wait $!
done
if [ -z "$told" ]; then
  echo 'front.sh: a process of nginx has ended by itself; the other one ends, too' >&2
  kill -QUIT $front 2>/dev/null
  kill $streams 2>/dev/null
fi
wait $front
status=$?
while kill -0 $front 2>/dev/null; do # it was a signal
  wait $front
  status=$?
done
wait $streams
rm -rf "$run"
[ -n "$told" ] || exit 1
exit "$status"
