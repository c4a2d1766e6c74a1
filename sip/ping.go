package sip

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Pong is what a target answered to OPTIONS.
type Pong struct {
	Code   int
	Phrase string
	Server string // its Server or User-Agent header
	Allow  string // the methods that it takes
	RTT    time.Duration
	Addr   netip.AddrPort // where it was asked
}

// errNoTarget says that a target has no address that we may go to.
var errNoTarget = errors.New("sip: no address of the target may be reached")

// Ping asks a target by OPTIONS whether it lives (RFC 3261 11); any answer but
// 408 means that it does. It waits for the answer or the end of ctx.
func (u *UserAgent) Ping(ctx context.Context, env domain.Environment, t resolve.Target) (Pong, error) {
	if !u.isReady() {
		return Pong{}, errNotReady
	}
	if err := u.checkTarget(&t); err != nil {
		return Pong{}, err
	}
	if err := u.checkEnvironment(env, t); err != nil {
		return Pong{}, err
	}
	found := u.resolve(t)
	if err := ctx.Err(); err != nil {
		return Pong{}, err
	}
	where := u.reachable(found)
	if len(where) == 0 {
		return Pong{}, errNoTarget
	}
	f := transport.FlowTo(where[0])
	callID, host := u.id.StandaloneCallID(rand.Text()), u.transport.PublicHost(f)
	d := &Dialog{
		ua: u, untold: true, key: dialogKey{callID, u.id.FromTag(callID)}, flow: f, remoteCSeq: -1, localCSeq: 1,
		localURI: "sip:" + host, localParty: "<sip:" + host + ">", remoteURI: "sip:" + t.WithName().HostPort(), contactUser: "callboard", target: where[0], environment: env,
	}
	d.far.target = d.remoteURI
	if !u.dialogs.add(d) {
		return Pong{}, errors.New("sip: a request of this name is on the wire already")
	}
	limit := giveUp
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, max(time.Until(end), t1))
	}
	type result struct {
		pong Pong
		err  error
	}
	answer, sent := make(chan result, 1), time.Now()
	d.do(func() {
		d.hold(f.Addr.Addr())
		tx := &clientTx{
			method: message.MethodOptions, cseq: 1, far: remote{target: d.remoteURI}, to: f, patience: limit,
			extra: []message.Header{{Name: "Accept", Value: message.ContentSDP}},
		}
		d.start(tx, func(_ *clientTx, m *received, err error) {
			if m != nil && m.Code < 200 {
				return
			}
			r := result{err: err}
			if m != nil {
				r.err = nil
				r.pong = Pong{
					Code: m.Code, Phrase: m.Phrase, Server: first(m, "Server", "User-Agent"), Allow: strings.Join(m.HeaderValues("Allow"), ", "),
					RTT: time.Since(sent), Addr: f.Addr,
				}
				if m.Code == 408 {
					r.err = errTimeout
				}
			}
			select {
			case answer <- r:
			default:
			}
		})
	})
	defer d.do(func() {
		for _, tx := range slices.Clone(d.txs) {
			d.drop(tx)
		}
		d.retire(0)
	})
	select {
	case r := <-answer:
		return r.pong, r.err
	case <-ctx.Done():
		return Pong{}, ctx.Err()
	}
}

// first is the first of the headers that is there, cut to what may be shown.
func first(m *received, names ...string) string {
	for _, n := range names {
		if v := m.HeaderValue(n); v != "" && message.IsSingleLine(v) {
			return v[:min(len(v), 128)]
		}
	}
	return ""
}

// Resolve is Resolver.Resolve of the user agent's resolver.
func (u *UserAgent) Resolve(ctx context.Context, t resolve.Target) ([]resolve.Target, error) {
	return u.resolver.Resolve(ctx, t)
}
