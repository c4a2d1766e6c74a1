package sip_test

import (
	"strings"
	"testing"

	"github.com/callboard/callboard/sip"
)

// smooth fails on what would end a line where a value is written.
func smooth(t *testing.T, values ...string) {
	t.Helper()
	for _, v := range values {
		if strings.ContainsAny(v, "\r\n\x00<>\"") {
			t.Fatalf("%q could begin something of its own", v)
		}
	}
}

func FuzzRAck(f *testing.F) {
	for _, s := range []string{"776656 1 INVITE", "1 1 BYE", "0 1 INVITE", "4294967296 1 INVITE", " 1  2\tINVITE ", "1 -1 INVITE", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rseq, _, method, ok := sip.ReadRAck(s)
		if ok && (rseq == 0 || method == "") {
			t.Fatalf("%q: %d %q", s, rseq, method)
		}
		smooth(t, method)
	})
}

func FuzzReferTo(f *testing.F) {
	for _, s := range []string{
		"<sip:a@b>", `"A <b>" <sip:a@b;x=y?Replaces=c%40d%3Bto-tag%3D1%3Bfrom-tag%3D2>;p`, "tel:+1", "<sip:a@b;method=INVITE>", "<sip:a@[::1]>",
		"<sip:a@b?Replaces=%", "<sip:%0d%0a@b>", "<http://x>", "<sip:a@b?Replaces=x%00%3Bto-tag%3D1%3Bfrom-tag%3D2>", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		uri, replaces, ok := sip.ReadReferTo(s)
		if !ok {
			return
		}
		smooth(t, uri)
		if len(uri) > 512 || strings.Contains(uri, "?") {
			t.Fatalf("%q", uri)
		}
		if replaces != nil {
			header, err := sip.WriteReplaces(replaces)
			if err != nil || strings.ContainsAny(header, "\r\n\x00") {
				t.Fatalf("%q: %v", header, err)
			}
		}
	})
}

func FuzzReplaces(f *testing.F) {
	for _, s := range []string{
		"a@b;to-tag=1;from-tag=2", "a;from-tag=2;to-tag=1;early-only", "a;to-tag=1;to-tag=2;from-tag=3", ";to-tag=1;from-tag=2", "a;to-tag=;from-tag=", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := sip.ReadReplaces(s)
		if !ok {
			return
		}
		header, err := sip.WriteReplaces(&id)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		again, ok := sip.ReadReplaces(header)
		if !ok || again != id {
			t.Fatalf("%q became %q", s, header)
		}
	})
}

func FuzzSessionExpires(f *testing.F) {
	for _, s := range []string{"1800", "1800;refresher=uac", " 90 ; refresher = UAS ; x", "-1", "99999999999", "90;refresher=me", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		every, refresher, ok := sip.ReadSession(s)
		if every < 0 || !ok && (every != 0 || refresher != "") || refresher != "" && refresher != "uac" && refresher != "uas" {
			t.Fatalf("%q: %s %q", s, every, refresher)
		}
	})
}

func FuzzSipfrag(f *testing.F) {
	for _, s := range []string{"SIP/2.0 200 OK\r\n", "\r\nsip/2.0 486", "SIP/2.0 99 No", "SIP/2.0 200 \xff\x00\x1b[31m", "SIP/2.0", strings.Repeat("x", 1000), ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		code, phrase, ok := sip.ReadSipfrag(b)
		if ok && (code < 100 || code > 699) || len(phrase) > 64 || strings.ContainsAny(phrase, "\r\n\x00\x1b") {
			t.Fatalf("%q: %d %q", b, code, phrase)
		}
	})
}

func FuzzHold(f *testing.F) {
	f.Add([]byte(sdp))
	f.Add([]byte("c=\nm=\nm=audio\nm=audio 1\na=inactive\nm=audio 0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if sip.HoldOf(b) > sip.HoldZero {
			t.Fatal("a hold that does not exist")
		}
	})
}
