package webhook

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is taken apart here is what net/http makes of it; of anything odd it is
// net/http that decides.
func TestShortAnswersAreWhatTheyAreToTheLibrary(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	starts := []string{
		"HTTP/1.1 200 OK", "HTTP/1.1 204 No Content", "HTTP/1.1 202", "HTTP/1.1 503 Service Unavailable", "HTTP/1.1 410 Gone", "HTTP/1.1 200 ",
		"HTTP/1.0 200 OK", "HTTP/1.1 304 Not Modified", "HTTP/1.1 103 Early Hints", "HTTP/1.1 2000 OK", "HTTP/1.1  200 OK", "http/1.1 200 OK", "HTTP/1.1 +20 OK", "HTTP/2.0 200 OK",
		"HTTP/1.1 20", "", "HTTP/1.1 200\tOK", "HTTP/1.1 999 What",
	}
	lines := []string{
		"Content-Length: 0", "Content-Length: 5", "content-length: 5", "Content-Length: 05", "Content-Length: +5", "Content-Length: 5, 5", "Content-Length: ", "Content-Length:5",
		"Content-Length: 99999999999", "Content-Length : 5", "Transfer-Encoding: chunked", "transfer-encoding: identity", "Connection: close", "connection: keep-alive", "Connection: Upgrade",
		"Retry-After: 5", "Trailer: A", "Date: Mon, 23 Nov 2026 01:00:00 GMT", "Date: now", "Server: x", "X-A: b: c", "X-A:", " folded: line", "X A: b", "X-\x00: a", "X-A: \x01", "no colon", ": b",
		"Set-Cookie: a=b", "Pragma: no-cache", "X-A: a\rContent-Length: 5", "X-A: ü",
	}
	taken := 0
	for range 40_000 {
		head := starts[rnd.IntN(len(starts))]
		if rnd.IntN(2) == 0 {
			head = starts[rnd.IntN(5)]
		}
		end := "\r\n"
		if rnd.IntN(20) == 0 {
			end = "\n"
		}
		all := []string{head}
		for range rnd.IntN(4) {
			all = append(all, lines[rnd.IntN(len(lines))])
		}
		text := []byte(strings.Join(append(all, "", "hello"), end))
		if rnd.IntN(10) == 0 {
			text = text[:rnd.IntN(len(text))]
		}
		size, status, length := short(text)
		if size == 0 {
			continue
		}
		taken++
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		require.NoError(t, err, "%q", text)
		require.Equal(t, []any{res.StatusCode, res.Close, ""}, []any{status, false, res.Header.Get("Retry-After")}, "%q", text)
		require.Equal(t, max(res.ContentLength, 0), length, "%q", text)
		body, _ := io.ReadAll(res.Body)
		require.NoError(t, res.Body.Close())
		rest := text[size:]
		require.Equal(t, string(rest[:min(int(length), len(rest))]), string(body), "%q", text)
	}
	require.Greater(t, taken, 1000)
}

func TestCommonAnswersAreTakenApartHere(t *testing.T) {
	t.Parallel()
	for head, want := range map[string][2]int64{
		"HTTP/1.1 204 No Content\r\nDate: Mon, 23 Nov 2026 01:00:00 GMT\r\n\r\n":                                     {204, 0},
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\nServer: nginx\r\n\r\nok": {200, 2},
		"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n":                                                        {404, 9},
	} {
		size, status, length := short([]byte(head))
		require.Equal(t, fmt.Sprint(strings.Index(head, "\r\n\r\n")+4, want), fmt.Sprint(size, [2]int64{int64(status), length}), head)
	}
}
