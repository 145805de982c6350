#!/bin/sh
# Runs nginx as two processes: one for the streams, one for everything else. On SIGQUIT, which docker sends, nginx ends when every request
# has been answered. A stream is never answered in full, so a page that is open would hold the end up. Here SIGQUIT ends the streams at
# once; then the sales in flight are answered, as ever.
here=$(cd "$(dirname "$0")" && pwd)
run=$(mktemp -d)

nginx -p "$run" -e stderr -c "$here/streams.conf" -g 'daemon off; pid streams.pid;' &
streams=$!
nginx -p "$run" -e stderr -c "$here/nginx.conf" -g 'daemon off; pid front.pid;' &
front=$!
trap 'kill -QUIT $front; kill $streams' QUIT
trap 'kill $front $streams' TERM INT

# a signal interrupts wait
while kill -0 $front 2>/dev/null; do
  wait $front
  status=$?
done
kill $streams 2>/dev/null
wait
rm -rf "$run"
exit $status
