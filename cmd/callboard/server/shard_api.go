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

// listenHTTP opens the HTTP listener; requests wait until serveAPI.
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

// serveHTTP begins to take requests: of clients, or what nodes pass on.
func (t *shard) serveHTTP() {
	serve := t.http.ServeNodes
	if t.token == "" {
		serve = t.http.Serve
	}
	go func() { t.listenerEnded <- serve(t.listener) }()
}

// startAPI answers requests of the API.
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

// holdLimit is how long requests wait for another node when a seat begins to be
// given back: most are by then. A seat that waits for calls which cannot be handed
// over takes longer: after that time it answers them itself, except those that
// begin a call.
const requestHoldLimit = 3 * time.Second

// holdRequests has requests that would begin something wait for the next node from
// now on.
func (t *shard) holdRequests() { t.holdingSince.Store(time.Now().UnixNano()) }

// holdsRequests says whether requests wait for the next node.
func (t *shard) holdsRequests() bool {
	at := t.holdingSince.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < requestHoldLimit
}

// stopHTTP takes no request any more and lets those under way finish.
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
	_ = t.listener.Close() // the server has closed it, unless it never served
	if shardListener, ok := t.listener.(*forward.ShardListener); ok {
		shardListener.CloseConns()
	}
}
