package location

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/sip/cluster"
)

// callKey is the cache key for the owner of a call: source address, called number and user name. If byHeader is true,
// the key also contains the header fields by which trunks select calls.
func callKey(q actornode.MatchQuery, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"c" + q.Source.String(), q.To, q.User}, "\x00"), q.MatchFields, byHeader)
}

// cancelKey is the cache key, made from the Call-ID, for the node to which a CANCEL must be sent.
func cancelKey(a cluster.OwnerQuery) string { return "i" + a.CallID }

// sourceKey is the cache key for a source address to which no workspace has a trunk.
func sourceKey(at netip.AddrPort) string { return "s" + at.String() }

// numberClaimKey is the cache key for whether a workspace that owns the called number may have the call (checkNumberClaim).
// The cached workspace is "" if it may not.
func numberClaimKey(a cluster.OwnerQuery, name string, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"d" + a.Source.Addr.String(), name, a.User}, "\x00"), a.MatchFields, byHeader)
}

// withHeaderFields appends the header fields to a cache key if byHeader is true, because a trunk then selects its calls
// by a header (domain.TrunkMatch).
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

// storedClaimNames returns the names under which the store may list the workspace that owns a request. For a REGISTER
// the name is that of the phone, for other requests that of the called number.
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
