// Package spans exports the traces of calls and webhook deliveries to an OpenTelemetry collector. It creates spans
// when the commit that ends a call or a delivery attempt succeeds, so a live call does no work for its trace. A
// commit never waits for the collector: the queue is bounded, and a full queue drops spans.
package spans

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/engines/tracing"
)

const (
	maxQueuedSpans = 4096 // queued or being exported
	maxBatchSpans  = 512
	batchDelay     = 5 * time.Second  // maximum age of an incomplete batch
	requestTimeout = 10 * time.Second // for one HTTP request
	maxRetryTime   = 2 * time.Minute  // time after which a batch is not retried
	exportTimeout  = maxRetryTime + 2*requestTimeout
	closeTimeout   = 5 * time.Second // of the export at shutdown
)

// Config configures a Recorder.
type Config struct {
	URL     string // of the collector, without /v1/traces
	Header  http.Header
	Share   float64 // of all traces, 0 to 1
	Version string
	Node    string // service.instance.id
	Log     *slog.Logger
}

// Recorder creates spans from committed calls and deliveries and exports them in batches. A nil *Recorder does
// nothing.
type Recorder struct {
	contexts *tracing.SpanContexts
	counts   *counts
	exporter sdktrace.SpanExporter
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	stopped  chan struct{} // closed after the last export
}

// New returns a Recorder that exports in the background until Close.
func New(ctx context.Context, cfg Config) (*Recorder, error) {
	headers := make(map[string]string, len(cfg.Header))
	for name, values := range cfg.Header {
		headers[name] = strings.Join(values, ", ")
	}
	inner, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(cfg.URL+"/v1/traces"),
		otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithHTTPClient(&http.Client{
			Transport: retryableErrorTransport{http.DefaultTransport}, Timeout: requestTimeout, CheckRedirect: refuseRedirect,
		}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: 10 * time.Second, MaxElapsedTime: maxRetryTime,
		}))
	if err != nil {
		return nil, fmt.Errorf("create the OTLP exporter: %w", err)
	}
	r := &Recorder{contexts: tracing.NewSpanContexts(cfg.Share), counts: new(counts), exporter: inner, stopped: make(chan struct{})}
	batches := sdktrace.NewBatchSpanProcessor(&countingExporter{inner, r.counts, cfg.Log, r.stopped},
		sdktrace.WithMaxQueueSize(maxQueuedSpans), sdktrace.WithMaxExportBatchSize(maxBatchSpans),
		sdktrace.WithBatchTimeout(batchDelay), sdktrace.WithExportTimeout(exportTimeout))
	r.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(&countingProcessor{batches, r.counts}),
		sdktrace.WithIDGenerator(idGenerator{}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // only sampled spans are created
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "callboard"),
			attribute.String("service.version", cfg.Version),
			attribute.String("service.instance.id", cfg.Node))))
	r.tracer = r.provider.Tracer("callboard", trace.WithInstrumentationVersion(cfg.Version))
	return r, nil
}

// retryableErrorTransport replaces a connection error or a 500 by a 503, because the exporter retries only responses
// such as 503. Otherwise a restart of the collector would lose spans.
type retryableErrorTransport struct{ http.RoundTripper }

// RoundTrip sends a request and makes its failures retryable.
func (t retryableErrorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	switch {
	case err != nil && r.Context().Err() == nil:
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: make(http.Header), Body: io.NopCloser(strings.NewReader(err.Error())), Request: r,
		}, nil
	case err == nil && res.StatusCode == http.StatusInternalServerError:
		res.StatusCode = http.StatusServiceUnavailable
	}
	return res, err //nolint:wrapcheck // the client wraps it
}

// refuseRedirect prevents the HTTP client from following redirects, which would send the configured headers to another
// server.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Counts returns how many spans the collector accepted, and how many were dropped or not accepted.
func (r *Recorder) Counts() (sent, lost uint64) {
	if r == nil {
		return 0, 0
	}
	return r.counts.sent.Load(), r.counts.lost.Load()
}

// Close exports the queued spans for at most five seconds and drops the rest.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if r.provider.Shutdown(ctx) != nil {
		_ = r.exporter.Shutdown(context.Background()) // aborts the request in progress
	}
	<-r.stopped
	r.counts.lost.Add(uint64(r.counts.pending.Swap(0))) //nolint:gosec // spans that ended during the shutdown, never negative
}

// Contexts returns the generator of span contexts for calls and deliveries. It returns nil for a nil Recorder.
func (r *Recorder) Contexts() *tracing.SpanContexts {
	if r == nil {
		return nil
	}
	return r.contexts
}

// Store returns a store that creates spans from each successful commit.
func (r *Recorder) Store(inner storecache.Backend) storecache.Backend {
	if r == nil {
		return inner
	}
	return recordedStore{inner, r}
}

type recordedStore struct {
	storecache.Backend
	recorder *Recorder
}

// Apply commits a change and creates the spans of the calls and delivery attempts that the change ends.
func (s recordedStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := s.Backend.Apply(ctx, c)
	if err == nil {
		s.recorder.record(&c)
	}
	return events, err
}

// record adds the spans of the calls and webhook delivery attempts that a commit ends.
func (r *Recorder) record(c *commit.Change) {
	var ended map[string]bool
	for i := range c.Events {
		if d, ok := c.Events[i].Data.(event.CallEndedData); ok {
			if ended == nil {
				ended = make(map[string]bool)
			}
			ended[d.CallID] = true
		}
	}
	for _, row := range c.Puts {
		switch row := row.(type) {
		case *domain.Call:
			if ended[row.ID] {
				r.recordCall(row)
			}
		case *domain.Delivery:
			if row.LastAttemptAt != nil {
				r.recordDelivery(row)
			}
		}
	}
}
