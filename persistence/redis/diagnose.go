package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Diagnose describes an error of this package in words, without an address. later: waiting may help, because Redis
// is unavailable, starting, or refuses commits temporarily. The description is "" if the error does not come from
// Redis or the connection.
func Diagnose(err error) (what string, later bool) {
	for _, state := range []struct {
		is    bool
		what  string
		later bool
	}{
		{redis.IsLoadingError(err), "is loading its data", true},
		{redis.IsMasterDownError(err) || redis.IsReadOnlyError(err), "is a replica at the moment", true},
		{redis.IsOOMError(err), "is out of memory", true},
		{redis.IsNoReplicasError(err), "has too few replicas to take commits", true},
		{redis.IsMaxClientsError(err), "has too many clients", true},
		{redis.IsClusterDownError(err) || redis.IsTryAgainError(err), "is a cluster that is not up", true},
		{hasPrefix(err, "MISCONF"), "cannot write to its disk", true},
		{hasPrefix(err, "BUSY "), "is busy with a script", true},
		{redis.IsAuthError(err), "refuses the user or the password", false},
		{redis.IsPermissionError(err), "does not let this user do what the service needs", false},
		{hasPrefix(err, "ERR DB index", "ERR invalid DB index", "ERR SELECT is not allowed"), "has no database of this number", false},
		{unreachable(err), "cannot be reached", true},
	} {
		if state.is {
			return state.what, state.later
		}
	}
	return "", false
}

// hasPrefix reports whether Redis answered with an error that begins with one of some prefixes.
func hasPrefix(err error, prefixes ...string) bool {
	var answer redis.Error
	return errors.As(err, &answer) && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(answer.Error(), p) })
}

// unreachable reports whether Redis did not answer. A server with a wrong certificate or protocol has answered.
func unreachable(err error) bool {
	if connection, is := errors.AsType[*net.OpError](err); is {
		return slices.Contains([]string{"dial", "read", "write"}, connection.Op)
	}
	_, unnamed := errors.AsType[*net.DNSError](err)
	return unnamed || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}
