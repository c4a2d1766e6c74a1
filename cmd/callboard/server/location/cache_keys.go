package location

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/sip/cluster"
)

// callKey is the cache key for the owner of a call. byHeader adds the header fields of the call.
func callKey(q actornode.ClaimQuery, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"c" + q.Source.String(), q.To, q.User}, "\x00"), q.MatchFields, byHeader)
}

// cancelKey is the cache key for the node of a call that may be cancelled.
func cancelKey(a cluster.OwnerQuery) string { return "i" + a.CallID }

// sourceKey is the cache key for a source address that no trunk knows.
func sourceKey(at netip.AddrPort) string { return "s" + at.String() }

// disputeKey is the cache key for whether the stored claim to a number is valid for a call. A cached workspace ""
// means that it is not.
func disputeKey(a cluster.OwnerQuery, name string, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"d" + a.Source.Addr.String(), name, a.User}, "\x00"), a.MatchFields, byHeader)
}

// withHeaderFields adds the header fields to a cache key if a trunk selects calls by a header (domain.TrunkMatch).
func withHeaderFields(name string, fields map[string]string, byHeader bool) string {
	if !byHeader {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString("\x00" + field + "\x00" + fields[field])
	}
	return b.String()
}

// storedClaimNames returns the names under which the store may have the owner of a request. A REGISTER is found by
// its phone, other requests by the called number.
func storedClaimNames(a cluster.OwnerQuery) []string {
	switch {
	case a.InDialog, a.Method == sipOptions:
		return nil
	case a.Method == "REGISTER":
		return []string{"p" + a.To}
	case strings.HasPrefix(a.To, "+"):
		return []string{"n" + a.To}
	}
	return []string{"n" + a.To, "n+" + a.To}
}
