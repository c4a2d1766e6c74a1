package auth_test

import (
	"strings"
	"testing"

	"github.com/callboard/callboard/sip/auth"
)

// FuzzAuthorization: any Authorization header is read without a panic and authenticates no user.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{
		`Digest username="1001", realm="callboard", nonce="AAAA", uri="sip:a", response="00", algorithm=MD5, cnonce="x", nc=00000001, qop=auth`,
		`Digest username="1001\", realm="callboard`, `Digest ,,,=,"=",realm=callboard`, `Basic YTpi`, `Digest`, `digest realm="callboard",realm="callboard"`,
		`Digest username="` + strings.Repeat("a", 5000) + `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		user, ok := auth.ReadCredentialsUser(header)
		if ok && (user == "" || len(user) > 512) {
			t.Fatalf("took user %q from %q", user, header)
		}
		if auth.VerifiesUnknownPassword(header) {
			t.Fatalf("%q proves a password that nobody told it", header)
		}
	})
}
