// Package engines holds the clients of engines beyond the machine: one folder per protocol. They speak and hear for
// media/speech, know no call, and are reached where the operator says. What a far end answers is limited and checked; its
// words never come into an error, for some repeat the key they were sent.
package engines

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/callboard/callboard/media/speech"
)

// What engines fail with; test with errors.Is.
var (
	ErrRefused = speech.ErrRequestRefused
	ErrUnfit   = speech.ErrRequestInvalid
	ErrGarbage = speech.ErrInvalidResponse
)

const (
	errorMost   = 4 << 10
	connectMost = 5 * time.Second
)

// NewHTTP makes the client of the engines: no redirects, for they would carry the key elsewhere. roots nil: those of the
// machine.
func NewHTTP(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: connectMost, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NewGuarded makes a client like that of NewHTTP for servers of developers: it connects without a proxy, and to nothing but
// what may says nil to, asked for each address behind a name.
func NewGuarded(roots *x509.CertPool, may func(netip.AddrPort) error) *http.Client {
	c := NewHTTP(roots)
	dialer := &net.Dialer{Timeout: connectMost, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return may(to)
	}}
	c.Transport = &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: connectMost,
	}
	return c
}

// word is what a code of an engine looks like; nothing else of what it says is repeated.
var word = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,48}$`)

// Refusal is what an answer says that is none of success.
func Refusal(answer *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, errorMost))
	var told struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
		Detail struct {
			Status any `json:"status"`
		} `json:"detail"`
		Code any `json:"err_code"`
	}
	_ = json.Unmarshal(body, &told)
	for _, v := range []any{told.Error.Code, told.Error.Type, told.Detail.Status, told.Code} {
		if s, ok := v.(string); ok && word.MatchString(strings.ToLower(s)) && !strings.HasPrefix(s, "sk-") {
			return fmt.Errorf("%w: %d %s", refusedBy(answer.StatusCode), answer.StatusCode, strings.ToLower(s))
		}
	}
	return fmt.Errorf("%w: %d", refusedBy(answer.StatusCode), answer.StatusCode)
}

// refusedBy tells what the request is to blame for from what is a matter of keys, limits and the engine itself.
func refusedBy(status int) error {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ErrUnfit
	}
	return ErrRefused
}

// Do sends a request; an answer other than 200 is a Refusal. The caller closes the body.
func Do(client *http.Client, r *http.Request) (*http.Response, error) {
	answer, err := client.Do(r) //nolint:gosec // the client guards what may be reached
	if err != nil {
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("the engine cannot be reached: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		defer func() { _ = answer.Body.Close() }()
		return nil, Refusal(answer)
	}
	return answer, nil
}
