package sip_test

import (
	"bytes"
	"encoding/hex"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
)

// messagesOf reads a file in the notation of RFC 4475, section 2.
func messagesOf(t testing.TB, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, text, _ = bytes.Cut(text, []byte("\n=== "))
	all := make(map[string][]byte)
	for part := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n\n=== ") {
		title, body, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(title, " ")
		all[name] = spellOut(t, body)
	}
	return all
}

var (
	hexes   = regexp.MustCompile(`<hex>([0-9A-F]*)</hex>`)
	repeats = regexp.MustCompile(`<repeat count=(\d+)>(.*?)</repeat>`)
)

func spellOut(t testing.TB, body string) []byte {
	t.Helper()
	var lines []string
	long := false
	open := false // the message ends without CRLF
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case line == "<allOneLine>":
			long = true
			lines = append(lines, "")
		case line == "</allOneLine>":
			long = false
		case line == "<noCRLF>":
			open = true
		case long:
			lines[len(lines)-1] += line
		default:
			lines = append(lines, line)
		}
	}
	s := strings.Join(lines, "\r\n")
	if !open {
		s += "\r\n"
	}
	s = repeats.ReplaceAllStringFunc(s, func(r string) string {
		found := repeats.FindStringSubmatch(r)
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return strings.Repeat(found[2], n)
	})
	return []byte(hexes.ReplaceAllStringFunc(s, func(h string) string {
		b, err := hex.DecodeString(hexes.FindStringSubmatch(h)[1])
		require.NoError(t, err)
		return string(b)
	}))
}

// farEnd is a host of many ports on the wire of a test.
const farEnd = "127.0.0.2"

func tortureMessages(t testing.TB) map[string][]byte {
	t.Helper()
	all := messagesOf(t, "testdata/rfc4475.txt")
	require.Len(t, all, 49)
	six := messagesOf(t, "testdata/rfc5118.txt")
	require.Len(t, six, 12)
	maps.Copy(all, six)
	return all
}

// Where phones may register, each REGISTER is challenged.
func TestTortureMessagesGetNoBindingOfARegistrar(t *testing.T) {
	want, got, all := map[string]string{}, map[string]string{}, tortureMessages(t)
	for _, row := range torture() {
		if row.udp == "405" && bytes.HasPrefix(all[row.name], []byte("REGISTER ")) {
			want[row.name] = "401"
		}
	}
	require.Len(t, want, 11)
	for name := range want {
		got[name] = reaction(t, all[name], func(ua *sip.UserAgent) {
			ua.Registrar(sip.Registrar{
				Account: func(user string) (auth.Account, bool) {
					return auth.Account{ID: "phone", User: user, Password: "secret"}, true
				},
				At: func(sip.Source) sip.Presence { return sip.Absent },
				Update: func(u *sip.Update) {
					t.Errorf("%s: a binding for %s, who proved nothing", name, u.AccountID)
					u.Refuse(500, 0)
				},
			})
		})
	}
	assert.Equal(t, want, got)
}

// TestUnreadableRequestsAreAnsweredOnce: an answer to what the parser refuses
// is no larger than the question, and repeats nothing that was not in it.
func TestUnreadableRequestsAreAnsweredOnce(t *testing.T) {
	for name, b := range tortureMessages(t) {
		answer := sip.Refusal(b)
		if answer == nil {
			continue
		}
		require.True(t, strings.HasPrefix(string(answer), "SIP/2.0 4"), name)
		for line := range strings.SplitSeq(string(answer), "\r\n") {
			if value, found := strings.CutPrefix(line, "Call-ID: "); found {
				assert.Contains(t, string(b), value, name)
			}
		}
	}
	for _, b := range []string{
		strings.Replace(callUs(), "INVITE", "ACK", 2), "SIP/2.0 200 OK\r\n" + callUs(), "GET / HTTP/1.1\r\nVia: x\r\n\r\n",
		callUs("+Call-ID: in-2"), "INVITE sip:a@b SIP/2.0\r\nFrom: a\r\nTo: b\r\nCSeq: 1 INVITE\r\n\r\n",
	} {
		assert.Nil(t, sip.Refusal([]byte(b)), b)
	}
}

func FuzzUnreadable(f *testing.F) {
	for _, b := range tortureMessages(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		answer := sip.Refusal(b)
		if answer == nil {
			return
		}
		head, _, found := bytes.Cut(answer, []byte("\r\n\r\n"))
		if !found || bytes.ContainsRune(bytes.ReplaceAll(head, []byte("\\\x00"), nil), 0) || bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
			t.Fatalf("%q", answer)
		}
	})
}
