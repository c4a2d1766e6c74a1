package location

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/sip/cluster"
)

// Under these names answers are kept: of a call, of its CANCEL, and of a source
// that nobody knows.
func callKey(q actornode.ClaimQuery, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"c" + q.Source.String(), q.To, q.User}, "\x00"), q.MatchFields, byHeader)
}

func cancelKey(a cluster.OwnerQuery) string { return "i" + a.CallID }

func sourceKey(at netip.AddrPort) string { return "s" + at.String() }

// disputeKey is where it is kept whether a number's claim in the store counts for
// a call; workspace "": it does not.
func disputeKey(a cluster.OwnerQuery, name string, byHeader bool) string {
	return withHeaderFields(strings.Join([]string{"d" + a.Source.Addr.String(), name, a.User}, "\x00"), a.MatchFields, byHeader)
}

// withHeaderFields is the name of an answer that counts for calls with these headers
// only, as where a trunk takes calls by a header (domain.TrunkMatch).
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

// storedClaimNames are what a request is found by before anybody is asked, each with its
// kind: a phone by who it is, and a call or a message by the number that it goes to.
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
