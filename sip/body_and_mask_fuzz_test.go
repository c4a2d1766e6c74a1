package sip_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/siptest"
)

// FuzzMaskSecrets: a masked message has the length and the lines of the original, and differs from it only in asterisks.
func FuzzMaskSecrets(f *testing.F) {
	for _, b := range siptest.TortureMessages(f) {
		f.Add(b)
	}
	for _, s := range []string{
		"INFO sip:a:secret@b SIP/2.0\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=5\r\nDuration=160", "INVITE a\r\nAuthorization: Digest response = \"00\"\r\n\t,x\r\n\r\n",
		"INVITE a\r\nc: application/sdp\r\n\r\nk=base64:AAAA\r\na=crypto:1 AES inline:AAAA|2^31\na=ice-pwd:x\r\na = CRYPTO : 1 AES INLINE:x", "Authorization:", "\r\n\r\n", "sip:", "a\r\n ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		shown := sip.MaskSecrets(b)
		if !bytes.Equal(b, before) {
			t.Fatalf("%q was changed itself", before)
		}
		if len(shown) != len(b) {
			t.Fatalf("%d bytes of %d", len(shown), len(b))
		}
		for i := range shown {
			if shown[i] != b[i] && shown[i] != '*' || b[i] == '\r' && shown[i] != '\r' || b[i] == '\n' && shown[i] != '\n' {
				t.Fatalf("%q became %q at %d", b, shown, i)
			}
		}
		if again := sip.MaskSecrets(shown); !bytes.Equal(again, sip.MaskSecrets(again)) {
			t.Fatalf("%q is never done", shown)
		}
	})
}

func FuzzDTMFRelay(f *testing.F) {
	for _, s := range []string{"Signal=5\r\nDuration=160\r\n", "signal = *\nduration= 99999", "Signal=10", "Signal=11", "Signal=\xc4\xb1", "Duration=-1", "=", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		key, duration := sip.ReadDTMFRelay(b)
		if key != 0 && !strings.ContainsRune("0123456789*#ABCD", rune(key)) || duration < 0 || duration > 65535 {
			t.Fatalf("%q: %q for %d ms", b, key, duration)
		}
	})
}

// FuzzReadFinal: the Q.850 cause and the Retry-After that are read from any failed response are within their bounds.
func FuzzReadFinal(f *testing.F) {
	for _, s := range [][4]string{
		{"Service Unavailable", "Q.850;cause=34;text=\"no circuit\"", "120 (busy);duration=60", "399 a \"too many calls\""},
		{"", "q.850 ; cause=-1", "-5", ""},
		{"x", "Q.850;cause=99999999999999999999", "99999999999", ""},
		{"Decline", "SIP;cause=603;v=analytics, Q.850;cause=21", "1;2(3", ""},
		{"", ",,;=;", "", ""},
	} {
		f.Add(603, s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, code int, phrase, reason, retry, warning string) {
		q850, _ := sip.ReadReason(reason)
		if q850 < 0 || q850 > 127 {
			t.Fatalf("%q is cause %d", reason, q850)
		}
		final := sip.ReadFinal(code, phrase, "Reason", reason, "Retry-After", retry, "Warning", warning)
		if final.Q850 != q850 || final.RetryAfter < 0 || final.RetryAfter > 24*time.Hour || final.Code != code {
			t.Fatalf("%+v", final)
		}
		if final.Blocked && code != 603 && code != 607 && code != 608 && !strings.Contains(strings.ToLower(final.Reason), "v=analytics") {
			t.Fatalf("%d is no block: %+v", code, final)
		}
		_ = outcome.Classify(final)
	})
}
