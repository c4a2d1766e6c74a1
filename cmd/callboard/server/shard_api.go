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

// listenHTTP opens the HTTP listener of a process outside of a cluster. Nothing accepts requests before startAPI.
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

// serveHTTP starts to accept requests: those of clients, or in a cluster those that the nodes forward to this shard.
func (t *shard) serveHTTP() {
	serve := t.http.ServeNodes
	if t.token == "" {
		serve = t.http.Serve
	}
	go func() { t.listenerEnded <- serve(t.listener) }()
}

// startAPI builds the HTTP API of the shard. Outside of a cluster it also starts to accept requests. In a cluster
// startActors does that later.
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

// requestHoldLimit is how long new requests wait for the next owner of the shard while this node releases it. If the
// release takes longer, this node answers them, except for requests that would start a call.
const requestHoldLimit = 3 * time.Second

// holdRequests makes requests that would start work wait until another node owns the shard.
func (t *shard) holdRequests() { t.holdingSince.Store(time.Now().UnixNano()) }

// holdsRequests reports whether requests must wait until another node owns the shard.
func (t *shard) holdsRequests() bool {
	at := t.holdingSince.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < requestHoldLimit
}

// stopHTTP accepts no more requests. It gives requests in progress time to finish, unless another node already owns
// the shard.
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
