package sip_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
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

// reaction sends one message of farEnd's to a user agent of ours and tells
// what came back: the status line of each answer without its phrase, "call"
// when a call was offered to the owner, "" for nothing.
func reaction(t *testing.T, b []byte, more ...func(*sip.UserAgent)) string {
	t.Helper()
	var said []string
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := onStage(t, func(ua *sip.UserAgent) {
			ua.OnInvite(func(i *sip.Incoming) {
				calls++
				i.Reject(486, 0)
			})
			for _, f := range more {
				f(ua)
			}
		})
		from := netip.MustParseAddrPort(farEnd + ":5060")
		var ports []*port
		for _, n := range []int{5060, 5061, 6050, 19823, 9} {
			ports = append(ports, s.net.open(fmt.Sprintf("%s:%d", farEnd, n)))
		}
		s.net.ports[s.us()].in <- datagram{b, from}
		synctest.Wait()
		for _, p := range ports {
			for len(p.in) > 0 {
				m := msg{text: string((<-p.in).b)}
				said = append(said, strings.Join(strings.Fields(m.line())[1:2], " "))
				assert.LessOrEqual(t, strings.Count(m.text, "\r\nFrom: "), 1, m.text)
			}
		}
		if calls > 0 {
			said = append(said, "call")
		}
		c := s.ua.Counters()
		assert.Zero(t, c.Panics)
		assert.EqualValues(t, len(said)-calls, c.Sent, "every answer found its way")
		time.Sleep(5 * time.Minute) // whatever it began is over
		assert.Zero(t, s.ua.Counters().Dialogs)
		s.stop()
	})
	return strings.Join(said, " ")
}

// torture is every message of both RFCs with the reaction that we owe it.
func torture() map[string]string {
	const call = "100 486 call" // taken: our test's owner is busy
	return map[string]string{
		// Valid (RFC 4475 3.1.1).
		"wsinv":      "481", // its To has a tag: within a dialog that we do not know
		"intmeth":    "501",
		"esc01":      call,
		"escnull":    "405", // REGISTER: nobody may register here
		"esc02":      "501", // RE%47IST%45R is not REGISTER
		"lwsdisp":    "200",
		"longreq":    call,
		"dblreq":     "405", // and not a second one for what follows its end
		"semiuri":    "200",
		"transports": "200",
		"mpart01":    "405",
		"unreason":   "", // answers to nothing
		"noreason":   "",
		// Invalid (3.1.2).
		"badinv01":   "400",
		"clerr":      "400",
		"ncl":        "400",
		"scalar02":   "400",
		"scalarlg":   "",
		"quotbal":    "400",
		"ltgtruri":   "400",
		"lwsruri":    "400",
		"lwsstart":   "400",
		"trws":       "400",
		"escruri":    call, // the headers in its Request-URI are passed over
		"baddate":    call, // we read no Date
		"regbadct":   "405",
		"badaspec":   "400",
		"baddn":      "", // its header section has no end
		"badvers":    "505",
		"mismatch01": "400",
		"mismatch02": "400",
		"bigcode":    "",
		// Transactions, applications, backward compatibility (3.2 to 3.4).
		"badbranch": "200",
		"insuf":     "400",
		"unkscm":    "416",
		"novelsc":   "416",
		"unksm2":    "405",
		"bext01":    "420",
		"invut":     "415",
		"regaut01":  "405",
		"multi01":   "400",
		"mcl01":     "400",
		"bcast":     "",
		"zeromf":    "200",
		"cparam01":  "405",
		"cparam02":  "405",
		"regescrt":  "405",
		"sdp01":     "406",
		"inv2543":   "400", // its From has no tag: no dialog of RFC 3261
		// IPv6 (RFC 5118).
		"ipv6-good":                     "405",
		"ipv6-bad":                      "400",
		"port-ambiguous":                "405",
		"port-unambiguous":              "405",
		"via-received-param-with-delim": "481",
		"via-received-param-no-delim":   "200",
		"ipv6-in-sdp":                   "400", // shorter than it says; see below
		"mult-ip-in-header":             "481",
		"mult-ip-in-sdp":                call,
		"ipv4-mapped-ipv6":              call,
		"ipv6-bug-abnf-3-colons":        "200",
		"ipv6-correct-abnf-2-colons":    "200",
	}
}

func tortureMessages(t testing.TB) map[string][]byte {
	t.Helper()
	all := messagesOf(t, "testdata/rfc4475.txt")
	require.Len(t, all, 49)
	six := messagesOf(t, "testdata/rfc5118.txt")
	require.Len(t, six, 12)
	maps.Copy(all, six)
	return all
}

func TestTortureMessagesGetTheirReactions(t *testing.T) {
	want := torture()
	got := make(map[string]string, len(want))
	for name, b := range tortureMessages(t) {
		got[name] = reaction(t, b)
	}
	assert.Equal(t, want, got)
	right := bytes.Replace(tortureMessages(t)["ipv6-in-sdp"], []byte("Content-Length: 268"), []byte("Content-Length: 251"), 1)
	assert.Equal(t, "100 486 call", reaction(t, right))
}

// Where phones may register, whoever sends one of the REGISTERs has to prove
// first who it is.
func TestTortureMessagesGetNoBindingOfARegistrar(t *testing.T) {
	want, got, all := map[string]string{}, map[string]string{}, tortureMessages(t)
	for name, said := range torture() {
		if said == "405" && bytes.HasPrefix(all[name], []byte("REGISTER ")) {
			want[name] = "401"
		}
	}
	require.Len(t, want, 11)
	for name := range want {
		got[name] = reaction(t, all[name], func(ua *sip.UserAgent) {
			ua.Registrar(sip.Registrar{
				Account: func(user string) (sip.Account, bool) {
					return sip.Account{ID: "phone", User: user, Password: "secret"}, true
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
