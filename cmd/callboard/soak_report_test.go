package main_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

const soakHeader = `# Soak

Written by ` + "`make soak SOAK_DOC=docs/soak.md`" + `, which runs the real binary as a separate process and fails where
anything below is not given back. Machine: %s, shared with other work; a part of the cores was all that this run had. The short
form of it is in ` + "`make test`" + `, without the race detector.

This run: %d short calls (%d placed by campaigns, %d that came in) at most %d a second, and %d calls of %v with two-way
G.711, playback and stereo recording beside them; %v in all. The figures are those of ` + "`GET /debug/counters?gc=1`" + ` on the admin
listener: after a first wave of all kinds, and once no call was left.

`

// report logs the results of the soak test and writes them to the file that SOAK_DOC names.
func (s *soakTest) report(base, end processCounters, heard longCallStats, took time.Duration) {
	if !s.full {
		s.t.Logf("%v: %v, %d callers; %d goroutines, %d files, %.1f MB live, then %d, %d, %.1f MB, in %v", heard, s.outcomes, s.callers.succeeded,
			base.Process.Goroutines, base.countFiles(), base.Process.HeapLive/mb, end.Process.Goroutines, end.countFiles(), end.Process.HeapLive/mb, took)
		return
	}
	s.table(os.Stdout, base, end, heard)
	path := os.Getenv("SOAK_DOC")
	if path == "" {
		return
	}
	var doc strings.Builder
	out, in := s.outcomes["all"], s.callers.succeeded+s.callers.failed
	fmt.Fprintf(&doc, soakHeader, describeMachine(), out+in, out, in, s.rate, s.longCalls, s.longCallDuration, took.Round(time.Second))
	if s.t.Failed() {
		doc.WriteString("It failed: something below was not released.\n\n")
	}
	s.table(&doc, base, end, heard)
	require.NoError(s.t, os.WriteFile(path, []byte(doc.String()), 0o644))
}

func (s *soakTest) table(w io.Writer, base, end processCounters, heard longCallStats) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	bytes := func(b float64) string { return fmt.Sprintf("%.1f MB", b/mb) }
	line("| Value | After the first wave | Maximum | At the end |")
	line("|------|----------------------|-----------|------------|")
	p := s.peakCounters
	line("| Goroutines | %d | %d | %d |", base.Process.Goroutines, p.Process.Goroutines, end.Process.Goroutines)
	line("| Live heap after a collection | %s | %s | %s |", bytes(base.Process.HeapLive), bytes(p.Process.HeapLive), bytes(end.Process.HeapLive))
	line("| Heap in use after a collection | %s | %s | %s |", bytes(base.Process.HeapInUse), bytes(p.Process.HeapInUse), bytes(end.Process.HeapInUse))
	line("| Resident memory | %s | %s | %s |", bytes(base.Process.Resident), bytes(p.Process.Resident), bytes(end.Process.Resident))
	line("| Open files without idle sockets | %d | %d | %d |", base.countFiles(), p.countFiles(), end.countFiles())
	line("| Pooled sockets for later calls | %d | %d | %d |", 2*base.Media.Ports.Bound, 2*p.Media.Ports.Bound, 2*end.Media.Ports.Bound)
	line("| Media ports in use | %d | %d | %d |", base.Media.Ports.Taken, p.Media.Ports.Taken, end.Media.Ports.Taken)
	line("| Media sessions | %d | %d | %d |", base.Media.Sessions, p.Media.Sessions, end.Media.Sessions)
	line("| SIP dialogs, including those that ended in the last 40 s | %d | %d | %d |", base.SIP.Dialogs, p.SIP.Dialogs, end.SIP.Dialogs)
	line("| SIP traces of calls | %d | %d | %d |", base.Traces.Calls, p.Traces.Calls, end.Traces.Calls)
	line("| SIP traces without a call, at most 8192 | %d | %d | %d |", base.Traces.Unclaimed, p.Traces.Unclaimed, end.Traces.Unclaimed)
	for _, name := range []string{"calls_uncommitted", "permits_outbound", "permits_inbound", "permits_waiting", "trunk_slots", "trunk_charged_calls", "trunk_watched_calls", "recordings_pending", "actors"} {
		line("| %s | %d | %d | %d |", map[string]string{
			"calls_uncommitted": "Calls without a committed end", "permits_outbound": "Permits, outbound", "permits_inbound": "Permits, inbound",
			"permits_waiting": "Waiting requests for permits", "trunk_slots": "Trunk slots in use", "trunk_charged_calls": "Calls with cost metering",
			"trunk_watched_calls": "Calls with a trunk slot", "recordings_pending": "Recordings not yet stored", "actors": "Actors, including those of ended campaigns",
		}[name], base.Tree[name], p.Tree[name], end.Tree[name])
	}
	line("| Open attempts in the store | – | – | 0 |\n")
	line("Panics: %d. SIP messages received %d, sent %d, retransmitted %d. Transport errors: %d.", end.SIP.Panics, end.SIP.Received, end.SIP.Sent,
		end.SIP.Retransmitted, end.SIP.TransportErrors)
	line("Inbound calls that succeeded according to SIPp: %d, failed: %d.", s.callers.succeeded, s.callers.failed)
	if heard.calls > 0 {
		line("Long calls: %d; minimum rates %.1f received and %.1f sent packets per second (nominal 50), lowest MOS %.2f.",
			heard.calls, heard.received, heard.sent, heard.mos)
	}
	line("\n| Outcome of the outbound calls | Calls |\n|-----------------------------|-------|")
	names := make([]string, 0, len(s.outcomes))
	for name := range s.outcomes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name != "all" && name != "other than wanted" {
			line("| %s | %d |", name, s.outcomes[name])
		}
	}
}
