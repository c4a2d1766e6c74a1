package actors

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
)

// credentialBounds are the addresses and the end that bind a credential, and
// with it everything that the credential creates: a child is within its parent.
type credentialBounds struct {
	networks [][]string // lists that allow every use together; the list of the credential itself is the first
	until    *time.Time // nil: no end
}

// boundsOf are the bounds of who asks: of the API key with its parents, or of
// the user of a dashboard session.
func (d *Desk) boundsOf(p domain.Principal) credentialBounds {
	var b credentialBounds
	switch {
	case p.KeyID != "":
		b.addKey(d.keys, d.keys.known(p.KeyID))
	case p.UserID != "":
		if u := d.guests.user(p.UserID); u != nil {
			b.addNetworks(u.AllowedIPs)
		}
	case p.ClientID != "":
		if c, _ := d.guests.client(p.ClientID); c != nil {
			b.addNetworks(c.AllowedIPs)
		}
	}
	return b
}

// addKey adds the bounds of a key and of all that it descends from.
func (b *credentialBounds) addKey(keys *Keyring, key *domain.APIKey) {
	keys.lineage(key, func(one *domain.APIKey) bool {
		b.addNetworks(one.AllowedIPs)
		if one.ExpiresAt != nil && (b.until == nil || one.ExpiresAt.Before(*b.until)) {
			b.until = one.ExpiresAt
		}
		return true
	})
}

func (b *credentialBounds) addNetworks(list []string) {
	if len(list) > 0 {
		b.networks = append(b.networks, list)
	}
}

// addresses are the allowed_ips of what the credential creates. nil stands for
// the credential's own. Errors: validation_error of allowed_ips.
func (b *credentialBounds) addresses(list []string) ([]string, error) {
	if list == nil && len(b.networks) > 0 {
		return slices.Clone(b.networks[0]), nil
	}
	for _, outer := range b.networks {
		if !allow.Within(list, outer) {
			return nil, problem("allowed_ips", domain.CodeValidation, "must lie within the addresses of the credential that creates or changes it: "+strings.Join(outer, ", "))
		}
	}
	return list, nil
}

// end is the expires_at of what the credential creates. nil stands for the
// credential's own. Errors: validation_error of expires_at.
func (b *credentialBounds) end(at *time.Time) (*time.Time, error) {
	if b.until != nil && at != nil && at.After(*b.until) {
		return nil, problem("expires_at", domain.CodeValidation, "must not be later than the end of the key that creates it: "+b.until.UTC().Format(time.RFC3339))
	}
	if at == nil {
		at = b.until
	}
	return at, nil
}
