package main

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
)

// tracing sends spans of what is committed, where a collector is named.
type tracing struct {
	sender *spans.Sender
	stop   context.CancelFunc
}

// openTracing begins to send; nil: nobody wants spans.
func (s *service) openTracing(ctx context.Context) (*tracing, error) {
	if s.cfg.OTLPURL == "" {
		return nil, nil
	}
	header, err := headerFile(s.cfg.OTLPHeadersFile)
	if err != nil {
		return nil, err
	}
	node, _ := os.Hostname() // a name to tell processes apart by, or none
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	t := &tracing{stop: stop, sender: spans.New(spans.Config{
		URL: s.cfg.OTLPURL, Header: header, Share: s.cfg.OTLPShare, Version: version, Node: node, Log: s.log,
	})}
	go t.sender.Run(ctx)
	return t, nil
}

// store is a store whose commits are watched, if anybody wants that.
func (t *tracing) store(inner actors.Store) actors.Store {
	if t == nil {
		return inner
	}
	return t.sender.Store(inner)
}

// counts are the spans that were sent and those that were lost.
func (t *tracing) counts() (sent, lost uint64) {
	if t == nil {
		return 0, 0
	}
	return t.sender.Counts()
}

// close sends what is left.
func (t *tracing) close() {
	if t == nil {
		return
	}
	t.stop()
	t.sender.Wait()
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
