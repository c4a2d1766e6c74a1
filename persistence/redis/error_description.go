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

// Diagnose describes an error of this package in words that contain no address. It returns "" if the error does not
// come from Redis or from the connection. later reports whether waiting may help, because Redis is unavailable, is
// starting, or refuses commits temporarily.
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

// hasPrefix reports whether err is an error answer of Redis that begins with one of the prefixes.
func hasPrefix(err error, prefixes ...string) bool {
	var answer redis.Error
	return errors.As(err, &answer) && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(answer.Error(), p) })
}

// unreachable reports whether err means that Redis did not answer. It returns false for a wrong certificate or
// protocol, because then the server has answered.
func unreachable(err error) bool {
	if connection, is := errors.AsType[*net.OpError](err); is {
		return slices.Contains([]string{"dial", "read", "write"}, connection.Op)
	}
	_, unnamed := errors.AsType[*net.DNSError](err)
	return unnamed || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}
