package auth

import (
	"net/netip"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
)

// ReadProof tells whose credentials a header holds.
func ReadProof(header string) (user string, ok bool) {
	p, ok := readCredentials([]string{header}, defaultRealm)
	return p.user, ok
}

// Proves reports whether a header opens an account whose password it cannot know.
func Proves(header string) bool {
	a := NewVerifier("", []byte("secret"), func(user string) (Account, bool) {
		return Account{ID: user, User: user, Password: "never told"}, true
	})
	m := &message.Message{Method: message.MethodRegister, Headers: []sipmsg.Header{sipmsg.NewHeader("Authorization", header)}}
	_, v := a.CheckRequest(m, netip.MustParseAddr("192.0.2.1"), time.Now())
	return v == Authenticated
}

// Proofs are the nonces that accounts have proved themselves with.
type Proofs struct{ n *nonces }

// The bounds of Proofs.
const (
	MaxProofs     = maxNonces
	MaxUserProofs = maxUserNonces
)

// NewProofs are none.
func NewProofs() *Proofs { return &Proofs{newNonces([]byte("secret"))} }

// Make makes a nonce.
func (p *Proofs) Make(at time.Time) string { return p.n.newNonce(netip.IPv4Unspecified(), at) }

// Take reports whether an account may prove itself with a nonce.
func (p *Proofs) Take(account, nonce string, nc uint32, at time.Time) bool {
	made, ours, old := p.n.check(nonce, netip.IPv4Unspecified(), at)
	return ours && !old && p.n.count(account, nonce, made, nc, at)
}

// Kept counts what is remembered.
func (p *Proofs) Kept() (nonces, accounts int) {
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
