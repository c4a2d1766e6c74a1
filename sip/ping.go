package sip

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// PingResult is the response of a target to an OPTIONS request.
type PingResult struct {
	Code   int
	Phrase string
	Server string // Server or User-Agent header of the response
	Allow  string // Allow header of the response
	RTT    time.Duration
	Addr   netip.AddrPort // the address that the request was sent to
}

// errNoTarget reports that a target has no address to which requests may be sent.
var errNoTarget = errors.New("sip: no address of the target may be reached")

// Ping sends OPTIONS to a target (RFC 3261 §11). Any response except 408 means that the target is alive. Ping waits
// for the response or the end of ctx.
func (u *UserAgent) Ping(ctx context.Context, env domain.Environment, t resolve.Target) (PingResult, error) {
	s, err := u.NewStandaloneClient(StandaloneConfig{Name: rand.Text(), Environment: env, Target: t})
	if err != nil {
		return PingResult{}, err
	}
	defer s.do(s.Release)
	addresses := u.reachable(u.resolve(s.target))
	if err := ctx.Err(); err != nil {
		return PingResult{}, err
	}
	if len(addresses) == 0 {
		return PingResult{}, errNoTarget
	}
	limit := transactionTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, max(time.Until(end), t1))
	}
	type result struct {
		pong PingResult
		err  error
	}
	answer, sent := make(chan result, 1), time.Now()
	s.do(func() {
		s.UseAddress(addresses[0])
		s.remoteURI = "sip:" + s.target.WithName().HostPort()
		s.setLocal("sip:" + u.transport.PublicHost(s.flow))
		s.Send(StandaloneRequest{
			Method: message.MethodOptions, Headers: []message.Header{{Name: "Accept", Value: message.ContentSDP}}, Timeout: limit,
		}, func(m *transport.Received, err error) {
			r := result{err: err}
			if m != nil {
				r.pong = PingResult{
					Code: m.Code, Phrase: m.Phrase, Server: firstHeader(m, "Server", "User-Agent"), Allow: strings.Join(m.HeaderValues("Allow"), ", "),
					RTT: time.Since(sent), Addr: s.flow.Addr,
				}
				if m.Code == 408 {
					r.err = ErrTimeout
				}
			}
			select {
			case answer <- r:
			default:
			}
		})
	})
	select {
	case r := <-answer:
		return r.pong, r.err
	case <-ctx.Done():
		return PingResult{}, ctx.Err()
	}
}

// firstHeader returns the value of the first of the named headers that the message has, cut to 128 bytes.
func firstHeader(m *transport.Received, names ...string) string {
	for _, n := range names {
		if v := m.HeaderValue(n); v != "" && message.IsSingleLine(v) {
			return v[:min(len(v), 128)]
		}
	}
	return ""
}

// Resolve returns the addresses of a target that the resolver finds.
func (u *UserAgent) Resolve(ctx context.Context, t resolve.Target) ([]resolve.Target, error) {
	return u.resolver.Resolve(ctx, t)
}
