package spans

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// counts holds the numbers of spans that are queued, exported or lost.
type counts struct {
	pending atomic.Int64 // queued or being exported
	sent    atomic.Uint64
	lost    atomic.Uint64
}

// countingProcessor drops and counts the spans for which the queue of the batch processor has no room. The batch
// processor would drop them too, but it does not report how many.
type countingProcessor struct {
	sdktrace.SpanProcessor
	counts *counts
}

// OnEnd passes an ended span to the batch processor, or drops it if the queue is full. It never blocks.
func (p *countingProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	if p.counts.pending.Add(1) > maxQueuedSpans {
		p.counts.pending.Add(-1)
		p.counts.lost.Add(1)
		return
	}
	p.SpanProcessor.OnEnd(s)
}

// countingExporter counts how many spans the collector accepts or rejects.
type countingExporter struct {
	sdktrace.SpanExporter
	counts  *counts
	log     *slog.Logger
	stopped chan struct{} // closed after the last export
}

// ExportSpans exports a batch. It logs a failure and returns nil, because the
// SDK passes errors to a process-wide handler.
func (e *countingExporter) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, batch)
	n := len(batch)
	e.counts.pending.Add(-int64(n))
	if err != nil {
		e.counts.lost.Add(uint64(n))
		e.log.Warn("the collector did not accept spans", slog.Int("spans", n), slog.Any("error", err))
		return nil
	}
	e.counts.sent.Add(uint64(n))
	return nil
}

// Shutdown closes the exporter. The batch processor calls it after the last
// export.
func (e *countingExporter) Shutdown(ctx context.Context) error {
	defer close(e.stopped)
	return e.SpanExporter.Shutdown(ctx) //nolint:wrapcheck // passed to the SDK
}
