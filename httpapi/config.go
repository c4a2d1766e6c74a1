package httpapi

import (
	"crypto/tls"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/callboard/callboard/httpapi/cluster"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/agents"
)

// Config configures a Server. The zero value works.
type Config struct {
	Log            *slog.Logger
	PublicURL      string         // base URL of links in responses; "": links are relative
	TrustedProxies []netip.Prefix // proxies that set X-Forwarded-For
	// Certificate returns the certificate of each TLS handshake; nil: no TLS.
	Certificate    func() (*tls.Certificate, error)
	Version        string               // of the service, shown in the OpenAPI document
	Speech         agents.PathwaySpeech // speech recognition of this installation
	ReadTimeout    time.Duration        // for the header section of a request (15 s)
	IdleTimeout    time.Duration        // of a connection between requests (75 s)
	WriteTimeout   time.Duration        // for a response, or for a part of a streamed one (30 s)
	RequestTimeout time.Duration        // for a handler (40 s: the test of a webhook may take 30)
	BodyGrace      time.Duration        // how long the sender of a body may pause in total (20 s)
	BodyRate       int                  // minimum bytes per second of a body (1024)
	JSONLimit      int64                // bytes of a JSON body (10 MB)
	UploadLimit    int64                // bytes of an upload (1 GB)
	MaxConnections int                  // maximum number of open client connections (16384)
	Heartbeat      time.Duration        // time between two heartbeats of an event stream (15 s)
	EventStreams   int                  // maximum number of event streams per workspace (100)
	// Shards are the shards of the installation. nil: the installation has this shard only.
	Shards cluster.Shards
	// Nodes returns the live nodes. nil: the installation has this node only.
	Nodes func() []cluster.Node
	// ShardMoves reports whether this node is handing the shard over to another node. nil: never.
	ShardMoves func() bool
	// Observe, if set, is called after each response. The bytes of method are valid until Observe returns.
	Observe func(method []byte, status int, took time.Duration)
}

// withDefaults returns the Config with its defaults.
func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.ReadTimeout, 15 * time.Second},
		{&c.IdleTimeout, 75 * time.Second},
		{&c.WriteTimeout, 30 * time.Second},
		{&c.RequestTimeout, 40 * time.Second},
		{&c.BodyGrace, router.BodyGrace},
		{&c.Heartbeat, 15 * time.Second},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.BodyRate == 0 {
		c.BodyRate = router.MinBodyRate
	}
	if c.JSONLimit == 0 {
		c.JSONLimit = 10 << 20
	}
	if c.UploadLimit == 0 {
		c.UploadLimit = 1 << 30
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 16384
	}
	if c.EventStreams == 0 {
		c.EventStreams = 100
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	return c
}
