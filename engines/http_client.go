// Package engines contains the HTTP clients and the error classification for external speech and language engines.
// Each protocol has a subpackage. Responses are bounded and checked. Errors contain no text of an engine, because some
// engines repeat the API key in their errors.
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

// Errors of engines. Test for them with errors.Is.
var (
	ErrRequestRefused  = speech.ErrRequestRefused
	ErrRequestInvalid  = speech.ErrRequestInvalid
	ErrInvalidResponse = speech.ErrInvalidResponse
)

const (
	maxErrorBytes  = 4 << 10
	connectTimeout = 5 * time.Second
)

// NewHTTP returns the HTTP client for engines that the operator configured. It does not follow redirects, because they
// would send the API key to another host. If roots is nil, the system's certificates are trusted.
func NewHTTP(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: connectTimeout, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NewGuarded returns an HTTP client for servers that tenants operate. It uses no proxy. It connects to an address only
// if may returns nil for the address.
func NewGuarded(roots *x509.CertPool, may func(netip.AddrPort) error) *http.Client {
	c := NewHTTP(roots)
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return may(to)
	}}
	c.Transport = &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: connectTimeout,
	}
	return c
}

// errorCode matches the error codes of engines that an error may contain. Errors contain no other text of an engine.
var errorCode = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,48}$`)

// Refusal returns the error for a response whose status is not 200. The error contains the status and the engine's
// error code.
func Refusal(answer *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBytes))
	var response struct {
		Error struct {
			Code any `json:"code"`
			Type any `json:"type"`
		} `json:"error"`
		Detail struct {
			Status any `json:"status"`
		} `json:"detail"`
		Code any `json:"err_code"`
	}
	_ = json.Unmarshal(body, &response)
	for _, v := range []any{response.Error.Code, response.Error.Type, response.Detail.Status, response.Code} {
		if s, ok := v.(string); ok && errorCode.MatchString(strings.ToLower(s)) && !strings.HasPrefix(s, "sk-") {
			return fmt.Errorf("%w: %d %s", refusedBy(answer.StatusCode), answer.StatusCode, strings.ToLower(s))
		}
	}
	return fmt.Errorf("%w: %d", refusedBy(answer.StatusCode), answer.StatusCode)
}

// refusedBy returns ErrRequestInvalid for a status that means an invalid request, and otherwise ErrRequestRefused.
func refusedBy(status int) error {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ErrRequestInvalid
	}
	return ErrRequestRefused
}

// Do sends a request and returns the response. If the status is not 200, the error is that of Refusal. The caller closes
// the body.
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
