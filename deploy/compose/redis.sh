#!/bin/sh
# Starts one Redis of three, or a sentinel. What they are begins with this file; from then on they keep their settings themselves,
# because a fail-over changes them.
#
#   redis.sh redis|sentinel
#
# ADDR and PORT: where it listens. FIRST_ADDR, FIRST_PORT: the Redis that is the primary in the beginning. PASSWORD: of all of them.
# MEMORY: of a Redis. FOLDER: where it keeps everything.
set -eu
folder=${FOLDER:-/data}
conf=$folder/$1.conf
if [ ! -e "$conf" ]; then
	umask 077
	{
		echo "bind $ADDR"
		echo "port $PORT"
		echo "dir $folder"
		echo "requirepass $PASSWORD"
		if [ "$1" = sentinel ]; then
			echo "sentinel monitor callboard $FIRST_ADDR $FIRST_PORT 2"
			echo "sentinel auth-pass callboard $PASSWORD"
			echo "sentinel sentinel-pass $PASSWORD"
			echo "sentinel down-after-milliseconds callboard 3000"
			echo "sentinel failover-timeout callboard 10000"
		else
			echo "masterauth $PASSWORD"
			echo "appendonly yes"
			echo "appendfsync always"
			echo "maxmemory ${MEMORY:-2gb}"
			echo "maxmemory-policy noeviction"
			# Who reaches neither of the others takes no commits: they may have another primary by then.
			echo "min-replicas-to-write 1"
			echo "min-replicas-max-lag 3"
			[ "$ADDR $PORT" = "$FIRST_ADDR $FIRST_PORT" ] || echo "replicaof $FIRST_ADDR $FIRST_PORT"
		fi
	} >"$conf.part"
	mv "$conf.part" "$conf"
fi
case $1 in
sentinel) exec redis-server "$conf" --sentinel ;;
*) exec redis-server "$conf" ;;
esac
