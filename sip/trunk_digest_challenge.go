package sip

import (
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/outcome"
)

// authenticateTrunk challenges the caller if it has to authenticate as a trunk. ok is false if the request was refused
// or dropped. After a success the call belongs to the trunk of the account.
func (u *UserAgent) authenticateTrunk(m *received, a Admission) (ok bool) {
	if a.Account == nil {
		return true
	}
	offered := len(m.HeaderValues("authorization")) > 0
	if !offered && !a.RequireAuthentication {
		return true
	}
	now := time.Now()
	verifier := u.trunks.WithAccounts(a.Realm, a.Account)
	account, v := verifier.CheckRequest(&m.Message, m.Source().Addr.Addr(), now)
	switch v {
	case auth.Authenticated:
		m.trunk, m.isAuthenticated = account.ID, true
		return true
	case auth.TooManyFailures:
		u.stats.rate.Add(1)
		return false
	case auth.NoCredentials, auth.WrongCredentials, auth.StaleNonce:
	}
	u.stats.rejected.Add(1)
	tag := u.id.ToTag(m.CallID, m.From.Tag+m.Branch())
	for _, some := range verifier.ChallengeFallbacks(&m.Message, m.Source().Addr.Addr(), v == auth.StaleNonce, now) {
		if b, err := u.buildResponse(&m.Received, 401, tag, some, nil); err == nil && (m.Flow.IsStream() || len(b) <= m.MaxResponseSize()) {
			u.respond(&m.Received, b)
			return false
		}
	}
	u.stats.size.Add(1)
	return false
}

// Challenge refuses a call with 401, so that the caller repeats it with the credentials of a trunk. It answers 403 if no
// trunk at the source has credentials, or if the caller has authenticated already.
func (i *Incoming) Challenge() {
	d, m := i.d, i.d.server.initial
	if !i.verifier.HasAccounts() || i.IsAuthenticated {
		i.Reject(403, 0)
		return
	}
	d.do(func() {
		for _, some := range i.verifier.ChallengeFallbacks(&m.Message, m.Source().Addr.Addr(), false, time.Now()) {
			b, err := d.ua.buildResponse(&d.server.tx.request.Received, 401, d.key.tag, some, nil)
			if err == nil && (m.Flow.IsStream() || len(b) <= i.maxResponseSize) {
				d.ua.stats.rejected.Add(1)
				d.server.refuse(401, some, outcome.Final{})
				return
			}
		}
		d.ua.stats.size.Add(1)
		d.server.refuse(403, nil, outcome.Final{})
	})
}

// isRepeatable reports whether a header may occur several times. Incoming.Header joins the values of such a header.
func isRepeatable(name string) bool {
	return name == "Diversion" || name == "History-Info" || name == nameIdentity
}

// nameIdentity is the header with the signature of a caller's number (RFC 8224). Its values are longer than those of other
// headers.
const nameIdentity = "Identity"
