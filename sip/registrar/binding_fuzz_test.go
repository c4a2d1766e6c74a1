package registrar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callboard/callboard/sip/registrar"
)

// FuzzContact: whatever a Contact contains, its URI can be used as a Request-URI, and the number of bindings stays
// bounded.
func FuzzContact(f *testing.F) {
	for _, seed := range []string{
		"<sip:1001@10.0.0.7:5060>;expires=600;q=0.5", "*", "\"a, b\" <sip:a@b>, sip:c@d;expires=1", "<sip:a@b", "sip:a@b>", "<sips:a@[::1]:5061;transport=tls>",
		"<sip:a@b;x=\r\nVia: y>", ",,,", "<sip:@>", "<sip:a@b?Route=x>", "\"\\", strings.Repeat("<sip:a@b>,", 100),
	} {
		f.Add(seed, "300")
	}
	now := time.Unix(1_700_000_000, 0)
	f.Fuzz(func(t *testing.T, contact, expires string) {
		change, code := registrar.ReadChange(contact, expires)
		if code != 0 {
			return
		}
		after, _ := change.Apply(nil, now)
		if len(after) > registrar.MaxBindings {
			t.Fatalf("%d bindings of %q", len(after), contact)
		}
		for _, b := range after {
			if strings.ContainsAny(b.URI, "\r\n\x00<> \"") || !strings.HasPrefix(strings.ToLower(b.URI), "sip") || len(b.URI) > 256 {
				t.Fatalf("took %q from %q", b.URI, contact)
			}
			if left := b.Expires.Sub(now); left < time.Minute || left > time.Hour || !(b.Q >= 0 && b.Q <= 1) {
				t.Fatalf("took %v, q %v from %q", left, b.Q, contact)
			}
		}
	})
}
