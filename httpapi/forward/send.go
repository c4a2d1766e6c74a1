package forward

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
)

var (
	// errNobody: no node has the shard.
	errNobody = errors.New("no node of the install has taken the work up yet")
	// errUnknown: the request may have been done.
	errUnknown = errors.New("the node that had the request has gone")
)

// way is where an attempt at a request goes: to a seat of this node, or to the
// door of another one.
type way struct {
	addr string // of the node
	seat *Lent  // nil: another node's
}

// way to the seat of a shard; false: there is none now, or it is not known.
func (f *Forwarder) way(shard int) (way, bool) {
	addr, known := f.cfg.Owner(shard)
	if f.cfg.Doors == nil || known && addr != f.cfg.Self {
		return way{addr: addr}, known
	}
	seat := f.cfg.Doors.seat(shard) // nil: it is this node's, and not ready yet
	return way{f.cfg.Self, seat}, seat != nil
}

// Of the hosts that stand in the URLs of requests between nodes, connections
// are kept by: of seats here, and of those elsewhere, with the address in hex.
const (
	here  = ".here"
	there = "-"
)

func (w way) host(shard int) (scheme, host string) {
	if w.seat != nil {
		return "http", w.seat.name + here
	}
	which := "node"
	if shard != nodeItself {
		which = strconv.Itoa(shard)
	}
	return "https", which + there + hex.EncodeToString([]byte(w.addr))
}

// transports are the connections to seats of this node, to those of others, and
// those of Reach, which never waits behind requests.
func (f *Forwarder) transports() {
	f.near = &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			name, _, _ := strings.Cut(addr, here)
			return f.cfg.Doors.dial(ctx, name)
		},
		DisableCompression: true, MaxIdleConnsPerHost: idleMost, IdleConnTimeout: idleFor, ResponseHeaderTimeout: answerLimit,
	}
	f.far = &http.Transport{
		DialTLSContext:     f.dialNode,
		DisableCompression: true, MaxIdleConns: idleAll, MaxIdleConnsPerHost: idleMost, MaxConnsPerHost: nodesMost / 2, IdleConnTimeout: idleFor, ResponseHeaderTimeout: answerLimit,
		WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}
	f.probe = f.far.Clone()
}

// dialNode opens a connection to the door of a node for a shard.
func (f *Forwarder) dialNode(ctx context.Context, network, host string) (net.Conn, error) {
	host, _, _ = net.SplitHostPort(host)
	which, coded, _ := strings.Cut(host, there)
	shard, err := strconv.Atoi(which)
	if which == "node" {
		shard, err = nodeItself, nil
	}
	if err != nil {
		return nil, err
	}
	addr, err := hex.DecodeString(coded)
	if err != nil {
		return nil, err
	}
	return f.cfg.Credential.dial(ctx, network, string(addr), shard)
}

func (c *Credential) dial(ctx context.Context, network, addr string, shard int) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialLimit, KeepAlive: 15 * time.Second}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := c.config()
	cfg.ServerName = doorName(shard)
	secure := tls.Client(conn, cfg)
	bound, cancel := context.WithTimeout(ctx, 2*dialLimit)
	defer cancel()
	if err = secure.HandshakeContext(bound); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// transporter finds the seat of each request's shard, and again where that is
// another one by now.
type transporter struct{ f *Forwarder }

// RoundTrip sends a request to its shard's seat. It is sent again where nothing
// can have been done, or where it does no harm twice.
func (t transporter) RoundTrip(r *http.Request) (*http.Response, error) {
	one, ok := r.Context().Value(flightKey{}).(*flight)
	if !ok {
		return nil, errors.New("forward: a request of no flight")
	}
	wait := t.f.cfg.Wait
	if r.URL.Path == "/readyz" {
		wait = min(wait, waitReady)
	}
	end := time.Now().Add(wait)
	body := keptOf(r, one)
	last := errNobody
	for delay := pause; ; delay = min(2*delay, pauseMost) {
		if w, there := t.f.way(one.shard); there {
			resp, again, err := t.once(r, one, w, body)
			if !again {
				return resp, err
			}
			last = err
		}
		if time.Until(end) < delay {
			return nil, last
		}
		sleep := time.NewTimer(delay)
		select {
		case <-r.Context().Done():
			sleep.Stop()
			return nil, r.Context().Err()
		case <-sleep.C:
		}
	}
}

// once tries one way; again: another try does no harm.
func (t transporter) once(r *http.Request, one *flight, w way, body *kept) (resp *http.Response, again bool, err error) {
	ctx := one.to(r.Context(), w.addr)
	sent := false
	out := r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }}))
	out.URL.Scheme, out.URL.Host = w.host(one.shard)
	out.Body = body.reader()
	if len(body.bytes) > 0 { // a connection that the far end closed as it lay idle is no attempt
		out.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	carries := t.f.far
	if w.seat != nil {
		carries = t.f.near
	}
	resp, err = carries.RoundTrip(out)
	if err == nil && resp.Header.Get(NotActive) != "" { // nothing was done
		_, _ = io.CopyN(io.Discard, resp.Body, keptBody) // so that the connection is used again
		_ = resp.Body.Close()
		return nil, body.whole(), errNobody
	}
	if err == nil {
		one.begun()
		return resp, false, nil
	}
	if r.Context().Err() != nil {
		return nil, false, r.Context().Err()
	}
	if cause := context.Cause(ctx); errors.Is(cause, errMoved) {
		err = errMoved
	}
	if !sent || unread(err) || one.harmless || harmless(r) {
		return nil, body.whole(), err
	}
	return nil, false, errors.Join(errUnknown, err)
}

// unread says whether a connection had ended before the request was written on it.
func unread(err error) bool {
	return strings.Contains(err.Error(), "http: server closed idle connection") // net/http names it for itself alone
}

// harmless says whether a request may be done twice.
func harmless(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("Idempotency-Key") != ""
}

// Ask sends a request of this node's own to the seat of a shard, wherever that
// is, and waits for the answer as a client does; ctx bounds it, and the body is
// closed by whoever asks. Only the path, the query, the headers and a body of at
// most 64 KB count of r; it is sent again where it is not known whether it was
// done, so it must do no harm twice. Whom it is asked for stands in its
// X-Forwarded-For.
func (f *Forwarder) Ask(ctx context.Context, shard int, r *http.Request) (*http.Response, error) {
	var all []byte
	if r.Body != nil {
		var err error
		all, err = io.ReadAll(io.LimitReader(r.Body, keptBody+1))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		if len(all) > keptBody {
			return nil, fmt.Errorf("forward: a question has more than %d bytes", keptBody)
		}
	}
	one, whole := f.flights.begin(ctx, ctx, shard, all)
	one.harmless = true
	out := r.Clone(whole)
	if out.Body = http.NoBody; len(all) > 0 {
		out.Body = (&kept{bytes: all}).reader()
	}
	if out.ContentLength = int64(len(all)); out.Host == "" {
		out.Host = r.URL.Host
	}
	resp, err := transporter{f}.RoundTrip(out)
	if err != nil {
		one.land()
		return nil, err
	}
	resp.Body = &landing{resp.Body, one}
	return resp, nil
}

// landing is the body of an answer with which the request is over.
type landing struct {
	io.ReadCloser
	one *flight
}

// Close is an io.Closer's.
func (l *landing) Close() error {
	defer l.one.land()
	return l.ReadCloser.Close()
}
