package sip

import (
	"net/netip"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"
)

// ReadProof tells whose credentials a header holds.
func ReadProof(header string) (user string, ok bool) {
	p, ok := readProof([]string{header}, defaultRealm)
	return p.user, ok
}

// Proves tells whether a header opens an account whose password it cannot know.
func Proves(header string) bool {
	a := newAuthority("", newIdentity([]byte("secret")), func(user string) (Account, bool) {
		return Account{ID: user, User: user, Password: "never told"}, true
	})
	m := &message{method: methodRegister, headers: []sipmsg.Header{sipmsg.NewHeader("Authorization", header)}}
	m.flow.addr = netip.MustParseAddrPort("192.0.2.1:5060")
	_, v := a.check(m, time.Now())
	return v == vGood
}

// ReadChange reads the contacts of a REGISTER.
func ReadChange(contact, expires string) (Change, int) {
	return readChange(&message{headers: []sipmsg.Header{sipmsg.NewHeader("m", contact), sipmsg.NewHeader("Expires", expires)}})
}
