package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/v1/agents"
	"github.com/callboard/callboard/sip/transport"
)

// listenHTTP opens the HTTP listener. Requests wait until startAPI.
func (t *shard) listenHTTP(ctx context.Context) error {
	if t.token != "" {
		return nil
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", t.cfg.HTTP.Addr.String())
	if err != nil {
		return fmt.Errorf("http_addr: %w", err)
	}
	t.listener = ln
	t.HTTPAddr = netip.MustParseAddrPort(ln.Addr().String())
	return nil
}

// serveHTTP accepts requests of clients, or those that other nodes forward.
func (t *shard) serveHTTP() {
	serve := t.http.ServeNodes
	if t.token == "" {
		serve = t.http.Serve
	}
	go func() { t.listenerEnded <- serve(t.listener) }()
}

// startAPI builds the HTTP API. Outside of a cluster it also accepts requests.
func (t *shard) startAPI() {
	var certificate func() (*tls.Certificate, error)
	if t.cfg.HTTP.CertFile != "" {
		certificate = transport.CertificateFiles(t.cfg.HTTP.CertFile, t.cfg.HTTP.KeyFile, t.log)
	}
	t.http = httpapi.New(httpapi.Config{
		Log: t.log, PublicURL: t.cfg.BaseURL(t.HTTPAddr), TrustedProxies: t.cfg.HTTP.TrustedProxies,
		Certificate: certificate, Version: t.options.Version, Observe: t.metrics.ObserveRequest,
		Speech: agents.PathwaySpeech{Recognized: t.engines.Recognizer != nil, Transcribed: t.engines.Recognizer != nil && t.engines.Recognizer.TranscribesFreeSpeech("en-US")},
		Shards: t.otherShards(), Nodes: t.liveNodes(), ShardMoves: t.holdsRequests,
	}, apiServices(t.services))
	if t.token == "" {
		t.serveHTTP()
	}
}

// requestHoldLimit is how long requests wait for the next node while a shard is released. Afterwards this node
// answers them, except for requests that would start a call. A release takes longer if calls cannot be handed over.
const requestHoldLimit = 3 * time.Second

// holdRequests makes requests that would start work wait for the next node.
func (t *shard) holdRequests() { t.holdingSince.Store(time.Now().UnixNano()) }

// holdsRequests reports whether requests wait for the next node.
func (t *shard) holdsRequests() bool {
	at := t.holdingSince.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < requestHoldLimit
}

// stopHTTP accepts no more requests and lets those in progress finish.
func (t *shard) stopHTTP() {
	if t.http != nil {
		limit := max(minShutdownTime, time.Until(t.drainDeadline))
		if t.leaseLost {
			limit = 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_ = t.http.Shutdown(ctx)
		cancel()
	}
	if t.listener == nil {
		return
	}
	_ = t.listener.Close() // the server closed it, unless it never ran
	if shardListener, ok := t.listener.(*forward.ShardListener); ok {
		shardListener.CloseConns()
	}
}
