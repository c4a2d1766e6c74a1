package auth

import (
	"net/netip"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
)

// ReadCredentialsUser returns the user in the credentials of a header.
func ReadCredentialsUser(header string) (user string, ok bool) {
	p, ok := readCredentials([]string{header}, defaultRealm)
	return p.user, ok
}

// VerifiesUnknownPassword reports whether a header authenticates an account with a random password.
func VerifiesUnknownPassword(header string) bool {
	a := NewVerifier("", []byte("secret"), func(user string) (Account, bool) {
		return Account{ID: user, User: user, Password: "never told"}, true
	})
	m := &message.Message{Method: message.MethodRegister, Headers: []sipmsg.Header{sipmsg.NewHeader("Authorization", header)}}
	_, v := a.CheckRequest(m, netip.MustParseAddr("192.0.2.1"), time.Now())
	return v == Authenticated
}

// NonceStore wraps the nonces of a Verifier for tests.
type NonceStore struct{ n *nonces }

// The limits of NonceStore.
const (
	MaxStoredNonces     = maxNonces
	MaxStoredUserNonces = maxUserNonces
)

// NewNonceStore returns an empty store.
func NewNonceStore() *NonceStore { return &NonceStore{newNonces([]byte("secret"))} }

// NewNonce returns a nonce that was created at a time.
func (p *NonceStore) NewNonce(at time.Time) string { return p.n.newNonce(netip.IPv4Unspecified(), at) }

// Use reports whether an account may use a nonce with a nonce count.
func (p *NonceStore) Use(account, nonce string, nc uint32, at time.Time) bool {
	made, ours, old := p.n.check(nonce, netip.IPv4Unspecified(), at)
	return ours && !old && p.n.count(account, nonce, made, nc, at)
}

// Stored returns the number of stored nonces and of accounts.
func (p *NonceStore) Stored() (nonces, accounts int) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	for _, s := range p.n.byAccount {
		nonces += len(s.used)
	}
	if nonces != p.n.total {
		panic("the total is wrong")
	}
	return nonces, len(p.n.byAccount)
}
