package content_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/content"
)

func packed(t *testing.T, with func(io.Writer) io.WriteCloser, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := with(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestContentCodingsAreDecodedUpToALimit(t *testing.T) {
	gzipped := func(text string) string {
		return packed(t, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, text)
	}
	zlibbed := packed(t, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, "hours")
	deflated := packed(t, func(w io.Writer) io.WriteCloser {
		f, err := flate.NewWriter(w, 9)
		require.NoError(t, err)
		return f
	}, "hours")
	const most = 100
	for name, c := range map[string]struct{ coding, body, want, says string }{
		"none":            {"", "hours", "hours", ""},
		"identity":        {"identity", "hours", "hours", ""},
		"gzip":            {"gzip", gzipped("hours"), "hours", ""},
		"case and spaces": {" GZip ", gzipped("hours"), "hours", ""},
		"deflate":         {"deflate", zlibbed, "hours", ""},
		"bare deflate":    {"deflate", deflated, "hours", ""},
		"two":             {"gzip, gzip", gzipped(gzipped("hours")), "hours", ""},
		"three":           {"gzip, gzip, gzip", "", "", "it has 3 content codings, at most 2 are read"},
		"unknown":         {"br", "noise", "", `it has the content coding "br", which is not read: send gzip, deflate, or none`},
		"a bomb":          {"gzip", gzipped(strings.Repeat("a b ", 1<<20)), "", "it is too large"},
		"too long":        {"", strings.Repeat("a", most+1), "", "it is too large"},
		"no gzip":         {"gzip", "hours", "", "it is not what its content coding gzip says"},
		"half of gzip":    {"gzip", gzipped("hours")[:20], "", "it is not what its content coding gzip says"},
	} {
		h := http.Header{}
		if c.coding != "" {
			h.Set("Content-Encoding", c.coding)
		}
		got, err := content.ReadBody(h, strings.NewReader(c.body), most)
		if c.says != "" {
			require.EqualError(t, err, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, string(got), name)
	}
	broken := errors.New("the connection broke")
	for _, coding := range []string{"gzip", ""} {
		_, err := content.ReadBody(http.Header{"Content-Encoding": {coding}}, iotest.ErrReader(broken), most)
		require.ErrorIs(t, err, broken)
	}
}

func TestTextIsDecodedByItsCharset(t *testing.T) {
	ascii := strings.Repeat("plain letters ", 100) // longer than the part in which a charset is looked for
	for name, c := range map[string]struct{ kind, body, want, says string }{
		"UTF-8 by default":       {"text/plain", "Müller", "Müller", ""},
		"UTF-8 behind ASCII":     {"text/plain", ascii + "Müller", ascii + "Müller", ""},
		"content type":           {"text/plain; charset=ISO-8859-1", "M\xfcller", "Müller", ""},
		"Windows-1252":           {"text/html; charset=windows-1252", "\x93Quote\x94", "“Quote”", ""},
		"meta":                   {"text/html", "<meta charset=\"iso-8859-1\"><p>M\xfcller", "<meta charset=\"iso-8859-1\"><p>Müller", ""},
		"UTF-16 by its mark":     {"text/plain", "\xff\xfeM\x00\xfc\x00", "Mü", ""},
		"UTF-8 with a mark":      {"text/plain; charset=utf-8", "\xef\xbb\xbfMü", "Mü", ""},
		"no charset, no UTF-8":   {"text/plain", "M\xfcller", "Müller", ""},
		"Shift JIS":              {"text/plain; charset=Shift_JIS", "\x83\x65\x83\x58\x83\x67", "テスト", ""},
		"one bad byte of many":   {"text/plain; charset=utf-8", ascii + "\xff", ascii + "\uFFFD", ""},
		"an unknown charset":     {"text/plain; charset=x-none", "x", "", `its charset "x-none" is not known`},
		"binary":                 {"text/plain", "\x00\x01\x02\x9d\xff", "", "it is not text in windows-1252"},
		"bytes that are no UTF8": {"text/plain; charset=utf-8", "\xff\xfd\xfc", "", "it is not text in utf-8"},
	} {
		got, err := content.DecodeText(c.kind, []byte(c.body))
		if c.says != "" {
			require.EqualError(t, err, c.says, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}
