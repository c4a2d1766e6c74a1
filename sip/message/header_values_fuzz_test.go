package message_test

import (
	"strings"
	"testing"

	"github.com/callboard/callboard/sip/message"
)

// requireNoLineBreak fails the test if a value has a line break, NUL, angle bracket or quote. With these characters a
// peer could begin another header or URI.
func requireNoLineBreak(t *testing.T, values ...string) {
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
		rack, ok := message.ParseRAck(s)
		if ok && (rack.RSeq == 0 || rack.Method == "") {
			t.Fatalf("%q: %d %q", s, rack.RSeq, rack.Method)
		}
		requireNoLineBreak(t, rack.Method)
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
		uri, replaces, ok := message.ParseReferTo(s)
		if !ok {
			return
		}
		requireNoLineBreak(t, uri)
		if len(uri) > 512 || strings.Contains(uri, "?") {
			t.Fatalf("%q", uri)
		}
		if replaces != nil {
			header, err := message.FormatReplaces(replaces)
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
		callID, to, from, _, ok := message.ParseReplaces(s)
		if !ok {
			return
		}
		id := message.DialogID{CallID: callID, LocalTag: from, RemoteTag: to}
		header, err := message.FormatReplaces(&id)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		againID, againTo, againFrom, _, ok := message.ParseReplaces(header)
		if !ok || againID != callID || againTo != to || againFrom != from {
			t.Fatalf("%q became %q", s, header)
		}
	})
}

func FuzzSessionExpires(f *testing.F) {
	for _, s := range []string{"1800", "1800;refresher=uac", " 90 ; refresher = UAS ; x", "-1", "99999999999", "90;refresher=me", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		every, refresher, ok := message.ParseSessionExpires(s)
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
		code, phrase, ok := message.ParseSipfrag(b)
		if ok && (code < 100 || code > 699) || len(phrase) > 64 || strings.ContainsAny(phrase, "\r\n\x00\x1b") {
			t.Fatalf("%q: %d %q", b, code, phrase)
		}
	})
}

func FuzzHold(f *testing.F) {
	f.Add([]byte("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"))
	f.Add([]byte("c=\nm=\nm=audio\nm=audio 1\na=inactive\nm=audio 0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if message.ReadHold(b) > message.HoldZero {
			t.Fatal("a hold that does not exist")
		}
	})
}
