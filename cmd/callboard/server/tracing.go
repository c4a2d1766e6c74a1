package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"strings"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/spans"
	trace "github.com/callboard/callboard/engines/tracing"
)

// tracing exports spans, where a collector is configured. A nil *tracing does
// nothing.
type tracing struct{ recorder *spans.Recorder }

// openTracing starts the export of spans; nil: no collector is configured.
func (s *Service) openTracing(ctx context.Context) (*tracing, error) {
	if s.cfg.OTLPURL == "" {
		return nil, nil
	}
	header, err := headerFile(s.cfg.OTLPHeadersFile)
	if err != nil {
		return nil, err
	}
	node, _ := os.Hostname() // tells processes apart; may be empty
	recorder, err := spans.New(ctx, spans.Config{
		URL: s.cfg.OTLPURL, Header: header, Share: s.cfg.OTLPShare, Version: s.options.Version, Node: node, Log: s.log,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what failed
	}
	return &tracing{recorder}, nil
}

// store returns a store that creates spans from its commits.
func (t *tracing) store(inner actors.Store) actors.Store {
	if t == nil {
		return inner
	}
	return t.recorder.Store(inner)
}

// contexts returns the span contexts of calls and deliveries.
func (t *tracing) contexts() *trace.SpanContexts {
	if t == nil {
		return nil
	}
	return t.recorder.Contexts()
}

// counts returns the numbers of sent and of lost spans.
func (t *tracing) counts() (sent, lost uint64) {
	if t == nil {
		return 0, 0
	}
	return t.recorder.Counts()
}

// close exports the queued spans.
func (t *tracing) close() {
	if t != nil {
		t.recorder.Close()
	}
}

// headerFile reads header lines, each "Name: value".
func headerFile(path string) (http.Header, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path) //nolint:gosec // the operator's own
	if err != nil {
		return nil, fmt.Errorf("otlp_headers_file: %w", err)
	}
	defer func() { _ = f.Close() }()
	header := make(http.Header)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("otlp_headers_file: line %d of %s must be a header line, such as Authorization: Bearer …", n, path)
		}
		header.Add(textproto.CanonicalMIMEHeaderKey(name), value)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("otlp_headers_file: %w", err)
	}
	return header, nil
}
