package server

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/cmd/callboard/metrics"
)

const (
	diskFreeMetric = "callboard_disk_free_bytes"
	diskFreeHelp   = "What is free where the data folder lies."
)

// readMetrics returns the current values of the process for a scrape.
func (s *Service) readMetrics(ctx context.Context) ([]metrics.Reading, error) {
	c, err := s.readCounters(ctx)
	treeRead := err == nil // incomplete counters would be misleading
	gauge := func(name, help string, value int, labels ...string) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Value: float64(value), Labels: labels}
	}
	total := func(name, help string, value uint64, labels ...string) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Value: float64(value), Labels: labels, Total: true}
	}
	ready := 1
	for _, one := range s.shards.all() {
		if one.actors.Ready(ctx) != nil {
			ready = 0
		}
	}
	values := []metrics.Reading{gauge("callboard_ready", "Whether calls can be placed and taken, as /readyz says.", ready)}
	disk, unread := vfs.Default.GetDiskUsage(s.cfg.Data)
	if err = errors.Join(err, unread); unread == nil {
		values = append(values, metrics.Reading{Name: diskFreeMetric, Help: diskFreeHelp, Value: float64(disk.AvailBytes)})
	}
	if treeRead {
		const lines = "Permits leased, bound and held."
		values = append(values,
			gauge("callboard_workspaces", "Workspaces.", c.Tree.Workspaces),
			gauge("callboard_actors", "Actors, questions under way included.", c.Tree.Actors),
			gauge("callboard_calls_live", "Calls that live.", c.Tree.Calls),
			gauge("callboard_calls_open", "Calls whose end is not committed yet, live ones included.", c.Tree.UncommittedCalls),
			gauge("callboard_recordings_pending", "Recordings of calls that are over, not kept yet.", c.Tree.PendingRecordings),
			gauge("callboard_lines_used", lines, c.Tree.OutboundPermits, "direction", "outbound"),
			gauge("callboard_lines_used", lines, c.Tree.InboundPermits, "direction", "inbound"),
			gauge("callboard_lines_waiting", "Permits that campaigns wait for.", c.Tree.WaitingPermits),
			gauge("callboard_trunk_channels_used", "Channels of trunks that are taken.", c.Tree.TrunkSlots),
			gauge("callboard_trunk_calls_waiting", "Calls that wait for a trunk's rate or channels.", c.Tree.TrunkWaitingCalls),
			gauge("callboard_inbound_opening", "INVITEs that are being looked at.", c.Tree.InboundRouting),
		)
	}
	if s.node == nil { // a cluster node adds its own
		values = append(values, clusterMetrics(1, 0, 1, 0)...)
	}
	const dropped = "SIP messages that were dropped without an answer."
	const refused = "SIP requests that were refused before anybody looked for their number."
	const spanned = "Spans of calls and deliveries, by result."
	u, ports := &c.SIP, &c.Media.Ports
	sent, lost := s.spans.Counts()
	for _, result := range resumeResults() {
		values = append(values, total("callboard_calls_taken_up_total", "Calls of a process that was gone, by what came of taking them up.", s.resumptions.count(result), "result", result))
	}
	return append(values,
		total("callboard_sip_messages_total", "SIP messages.", u.Received, "way", "received"),
		total("callboard_sip_messages_total", "SIP messages.", u.Sent, "way", "sent"),
		total("callboard_sip_retransmitted_total", "SIP messages that were sent again.", u.Retransmitted),
		total("callboard_sip_dropped_total", dropped, u.DroppedUnknown, "reason", "unknown"),
		total("callboard_sip_dropped_total", dropped, u.DroppedRate, "reason", "rate"),
		total("callboard_sip_dropped_total", dropped, u.DroppedSize, "reason", "size"),
		total("callboard_sip_dropped_total", dropped, u.DroppedMalformed, "reason", "malformed"),
		total("callboard_sip_dropped_total", dropped, u.DroppedStray, "reason", "stray"),
		total("callboard_sip_refused_total", refused, u.Rejected, "reason", "invalid"),
		total("callboard_sip_refused_total", refused, u.RefusedLate, "reason", "late"),
		total("callboard_sip_refused_total", refused, u.RefusedFull, "reason", "full"),
		total("callboard_sip_transport_errors_total", "SIP messages that could not be sent.", u.TransportErrors),
		total("callboard_sip_panics_total", "Faults of ours while a SIP message was handled.", u.Panics),
		gauge("callboard_sip_dialogs", "Dialogs, those that are over and remembered for half a minute included.", u.Dialogs),
		gauge("callboard_sip_half_open", "Calls that came in and nobody answered yet.", u.UnansweredCalls),
		gauge("callboard_sip_connections", "Connections over TCP and TLS.", u.TCP),
		gauge("callboard_media_sessions", "Calls with sound.", c.Media.Sessions),
		gauge("callboard_media_ports_used", "Pairs of ports for sound that are taken.", ports.Taken),
		gauge("callboard_media_ports_resting", "Pairs of ports for sound that rest after a call.", ports.Resting),
		gauge("callboard_media_ports", "Pairs of ports for sound.", ports.Pairs),
		total("callboard_spans_total", spanned, sent, "result", "sent"),
		total("callboard_spans_total", spanned, lost, "result", "lost"),
	), err
}
