package siptest

import (
	"bytes"
	"embed"
	"encoding/hex"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed torture/*.txt
var torture embed.FS

// TortureMessages returns the messages of RFC 4475 and RFC 5118 by their names.
func TortureMessages(t testing.TB) map[string][]byte {
	t.Helper()
	all := messagesOf(t, "torture/rfc4475.txt")
	require.Len(t, all, 49)
	six := messagesOf(t, "torture/rfc5118.txt")
	require.Len(t, six, 12)
	maps.Copy(all, six)
	return all
}

// messagesOf reads the messages in a file that uses the notation of RFC 4475 §2.
func messagesOf(t testing.TB, path string) map[string][]byte {
	t.Helper()
	text, err := torture.ReadFile(path)
	require.NoError(t, err)
	_, text, _ = bytes.Cut(text, []byte("\n=== "))
	all := make(map[string][]byte)
	for part := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n\n=== ") {
		title, body, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(title, " ")
		all[name] = expandNotation(t, body)
	}
	return all
}

var (
	hexes   = regexp.MustCompile(`<hex>([0-9A-F]*)</hex>`)
	repeats = regexp.MustCompile(`<repeat count=(\d+)>(.*?)</repeat>`)
)

func expandNotation(t testing.TB, body string) []byte {
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
