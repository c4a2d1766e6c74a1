package server

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/cmd/callboard/metrics"
)

const (
	diskFreeMetric = "callboard_disk_free_bytes"
	diskFreeHelp   = "Free space of the file system with the data folder."
)

// readMetrics returns the current values of metrics for a Prometheus scrape.
func (s *Service) readMetrics(ctx context.Context) ([]metrics.Reading, error) {
	c, err := s.readCounters(ctx)
	isComplete := err == nil // incomplete counters would be misleading
	gauge := func(name, help string, value int, labels ...string) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Value: float64(value), Labels: labels}
	}
	total := func(name, help string, value uint64, labels ...string) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Value: float64(value), Labels: labels, Total: true}
	}
	ready := 1
	for _, shard := range s.shards.all() {
		if shard.actors.Ready(ctx) != nil {
			ready = 0
		}
	}
	values := []metrics.Reading{gauge("callboard_ready", "1 while the process can place and receive calls, as /readyz reports.", ready)}
	disk, diskErr := vfs.Default.GetDiskUsage(s.cfg.Data)
	if err = errors.Join(err, diskErr); diskErr == nil {
		values = append(values, metrics.Reading{Name: diskFreeMetric, Help: diskFreeHelp, Value: float64(disk.AvailBytes)})
	}
	if isComplete {
		const permitsHelp = "Call permits in use: leased, bound or held."
		values = append(values,
			gauge("callboard_workspaces", "Workspaces on this process.", c.Tree.Workspaces),
			gauge("callboard_actors", "Actors, including pending requests.", c.Tree.Actors),
			gauge("callboard_calls_live", "Live calls.", c.Tree.Calls),
			gauge("callboard_calls_uncommitted", "Calls whose end is not committed, including live calls.", c.Tree.UncommittedCalls),
			gauge("callboard_recordings_pending", "Recordings of ended calls that are not stored yet.", c.Tree.PendingRecordings),
			gauge("callboard_permits_used", permitsHelp, c.Tree.OutboundPermits, "direction", "outbound"),
			gauge("callboard_permits_used", permitsHelp, c.Tree.InboundPermits, "direction", "inbound"),
			gauge("callboard_permits_waiting", "Requests of campaigns that wait for a permit.", c.Tree.WaitingPermits),
			gauge("callboard_trunk_slots_used", "Trunk slots in use.", c.Tree.TrunkSlots),
			gauge("callboard_trunk_calls_waiting", "Calls that wait for a trunk slot.", c.Tree.TrunkWaitingCalls),
			gauge("callboard_inbound_requests_routing", "Inbound INVITEs and MESSAGEs that are being routed.", c.Tree.InboundRouting),
		)
	}
	if s.node == nil { // a cluster node adds its own
		values = append(values, clusterMetrics(1, 0, 1, 0)...)
	}
	const droppedHelp = "SIP messages that were dropped without a response, by reason."
	const refusedHelp = "SIP requests that were refused before routing, by reason."
	const spansHelp = "Trace spans of calls and webhook deliveries, by result."
	sipCounters, ports := &c.SIP, &c.Media.Ports
	sent, lost := s.spans.Counts()
	for _, result := range resumeResults() {
		values = append(values, total("callboard_calls_resumed_total", "Calls of an ended process that this process tried to resume, by result.", s.resumptions.count(result), "result", result))
	}
	return append(values,
		total("callboard_sip_messages_total", "SIP messages, by direction.", sipCounters.Received, "direction", "received"),
		total("callboard_sip_messages_total", "SIP messages, by direction.", sipCounters.Sent, "direction", "sent"),
		total("callboard_sip_retransmitted_total", "Retransmitted SIP messages.", sipCounters.Retransmitted),
		total("callboard_sip_dropped_total", droppedHelp, sipCounters.DroppedUnknown, "reason", "unknown"),
		total("callboard_sip_dropped_total", droppedHelp, sipCounters.DroppedRate, "reason", "rate"),
		total("callboard_sip_dropped_total", droppedHelp, sipCounters.DroppedSize, "reason", "size"),
		total("callboard_sip_dropped_total", droppedHelp, sipCounters.DroppedMalformed, "reason", "malformed"),
		total("callboard_sip_dropped_total", droppedHelp, sipCounters.DroppedUnmatched, "reason", "unmatched"),
		total("callboard_sip_refused_total", refusedHelp, sipCounters.Rejected, "reason", "invalid"),
		total("callboard_sip_refused_total", refusedHelp, sipCounters.RefusedLate, "reason", "late"),
		total("callboard_sip_refused_total", refusedHelp, sipCounters.RefusedFull, "reason", "full"),
		total("callboard_sip_transport_errors_total", "SIP messages that could not be sent because of a transport error.", sipCounters.TransportErrors),
		total("callboard_sip_panics_total", "Panics while a SIP message was handled.", sipCounters.Panics),
		gauge("callboard_sip_dialogs", "SIP dialogs, including ended ones, which are kept for half a minute.", sipCounters.Dialogs),
		gauge("callboard_sip_half_open", "Inbound INVITEs without a final response.", sipCounters.UnansweredCalls),
		gauge("callboard_sip_connections", "SIP connections over TCP and TLS.", sipCounters.TCP),
		gauge("callboard_media_sessions", "Media sessions of live calls.", c.Media.Sessions),
		gauge("callboard_media_ports_used", "RTP port pairs in use.", ports.Taken),
		gauge("callboard_media_ports_quarantined", "RTP port pairs that are not reused yet after a call.", ports.Resting),
		gauge("callboard_media_ports", "RTP port pairs in total.", ports.Pairs),
		total("callboard_spans_total", spansHelp, sent, "result", "sent"),
		total("callboard_spans_total", spansHelp, lost, "result", "lost"),
	), err
}
