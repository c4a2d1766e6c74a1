package keys

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// Restrictions are the allowed_ips and the expiry of a credential. They also apply to all resources that the
// credential creates.
type Restrictions struct {
	networks [][]string // allowed_ips lists that must all allow an address; the list of the credential itself is the first
	until    *time.Time // expiry; nil: none
}

// users finds the users of all workspaces.
type users interface {
	User(id string) *domain.User // nil: there is none
}

// clients finds the OAuth clients of all workspaces.
type clients interface {
	Client(id string) (*domain.OAuthClient, error) // nil: there is none
}

// RestrictionRules finds the restrictions of credentials.
type RestrictionRules struct {
	keyring *Keyring
	users   users
	clients clients
}

// NewRestrictionRules returns the rules for the credentials of a keyring, users and
// OAuth clients.
func NewRestrictionRules(keyring *Keyring, users users, clients clients) *RestrictionRules {
	return &RestrictionRules{keyring: keyring, users: users, clients: clients}
}

// Of returns the restrictions of the caller: those of its API key and the key's parents, of its user, or of its OAuth
// client. If a sign-in link of an API key opened the caller's dashboard session, the restrictions of that key also apply.
func (x *RestrictionRules) Of(p domain.Principal) Restrictions {
	var r Restrictions
	switch {
	case p.KeyID != "":
		r.addKey(x.keyring, x.keyring.Key(p.KeyID))
	case p.UserID != "":
		if u := x.users.User(p.UserID); u != nil {
			r.addNetworks(u.AllowedIPs)
		}
	case p.ClientID != "":
		if c, _ := x.clients.Client(p.ClientID); c != nil {
			r.addNetworks(c.AllowedIPs)
		}
	}
	if p.SignInKeyID != "" {
		r.addKey(x.keyring, x.keyring.Key(p.SignInKeyID))
	}
	return r
}

// LimitAllowedIPs returns the allowed_ips of a resource that the caller creates or changes. If list is nil, the resource
// gets the list of the caller. If list exceeds the caller's list, it returns a validation error for allowed_ips.
func (x *RestrictionRules) LimitAllowedIPs(p domain.Principal, list []string) ([]string, error) {
	r := x.Of(p)
	return r.limitAllowedIPs(list)
}

// AllowedNetworks returns the caller's allowed_ips lists. The caller's address must be in each of these lists.
func (x *RestrictionRules) AllowedNetworks(p domain.Principal) [][]string { return x.Of(p).networks }

// addKey adds the restrictions of a key and of its parents.
func (r *Restrictions) addKey(keys *Keyring, key *domain.APIKey) {
	keys.walkParents(key, func(one *domain.APIKey) bool {
		r.addNetworks(one.AllowedIPs)
		if one.ExpiresAt != nil && (r.until == nil || one.ExpiresAt.Before(*r.until)) {
			r.until = one.ExpiresAt
		}
		return true
	})
}

func (r *Restrictions) addNetworks(list []string) {
	if len(list) > 0 {
		r.networks = append(r.networks, list)
	}
}

// checkAllowedIPs returns a validation error for allowed_ips if list is not contained in each list of the credential.
func (r *Restrictions) checkAllowedIPs(list []string) error {
	for _, outer := range r.networks {
		if !access.AreAllowedIPsWithin(list, outer) {
			return domain.FieldError("allowed_ips", domain.CodeValidation, "must lie within the addresses of the credential that creates or changes it: "+strings.Join(outer, ", "))
		}
	}
	return nil
}

// limitAllowedIPs returns the allowed_ips of a resource that the credential creates. If list is nil, it returns the first
// list of the credential that is contained in all its other lists. Errors: validation_failed for allowed_ips.
func (r *Restrictions) limitAllowedIPs(list []string) (_ []string, err error) {
	if list != nil || len(r.networks) == 0 {
		return list, r.checkAllowedIPs(list)
	}
	for _, own := range r.networks {
		if err = r.checkAllowedIPs(own); err == nil {
			return slices.Clone(own), nil
		}
	}
	return nil, err
}

// limitExpiry returns the expires_at of a key that the credential creates. If at is nil, the key gets the expiry of the
// credential. If at is later than that, it returns a validation error for expires_at.
func (r *Restrictions) limitExpiry(at *time.Time) (*time.Time, error) {
	if r.until != nil && at != nil && at.After(*r.until) {
		return nil, domain.FieldError("expires_at", domain.CodeValidation, "must not be later than the end of the key that creates it: "+r.until.UTC().Format(time.RFC3339))
	}
	if at == nil {
		at = r.until
	}
	return at, nil
}

// clearInheritedExpiry removes the expiry of a key that an operator has detached from its parent, if the key has its
// expiry from that parent.
func clearInheritedExpiry(keyring *Keyring, key *domain.APIKey, parent string) {
	var of Restrictions
	of.addKey(keyring, keyring.Key(parent))
	if key.ExpiresAt != nil && of.until != nil && key.ExpiresAt.Equal(*of.until) {
		key.ExpiresAt = nil
	}
}
