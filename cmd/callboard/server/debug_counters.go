package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// countersTimeout limits the reading of all counters.
const countersTimeout = 5 * time.Second

// counters are the numbers of live objects of the process, which GET /debug/counters of the admin listener returns.
// With ?gc=1 the garbage collector runs first. Reading the counters delays no call.
type counters struct {
	Process processCounters    `json:"process"`
	Tree    actornode.Counters `json:"tree"`
	SIP     sip.Counters       `json:"sip"`
	Media   mediaCounters      `json:"media"`
	Traces  traceCounters      `json:"traces"`
}

type processCounters struct {
	Goroutines int    `json:"goroutines"`
	Files      int    `json:"files"`      // open file descriptors
	HeapInUse  uint64 `json:"heap_inuse"` // heap bytes in use, as runtime.MemStats.HeapInuse
	HeapLive   uint64 `json:"heap_live"`  // heap bytes of objects, as runtime.MemStats.HeapAlloc
	Objects    uint64 `json:"objects"`
	Resident   uint64 `json:"resident"` // resident memory in bytes; 0: unknown
}

type mediaCounters struct {
	Sessions int           `json:"sessions"`
	Ports    media.PortUse `json:"ports"`
}

type traceCounters struct {
	Calls     int `json:"calls"`     // traced dialogs of live calls
	Unclaimed int `json:"unclaimed"` // traced dialogs that belong to no call; the oldest are dropped
}

// counterReader reads all counters.
type counterReader func(ctx context.Context) (counters, error)

// handleCounters is the HTTP handler of GET /debug/counters.
func (c counterReader) handleCounters(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("gc") == "1" {
		runtime.GC()
	}
	bound, cancel := context.WithTimeout(r.Context(), countersTimeout)
	defer cancel()
	now, err := c(bound)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(now)
}

// readCounters reads the counters of the process and its shards. If it returns an error, the actors of a shard are not
// counted.
func (s *Service) readCounters(ctx context.Context) (c counters, err error) {
	for _, shard := range s.shards.all() {
		tree, treeErr := shard.actors.Counters(ctx)
		c.Tree.Add(&tree)
		err = errors.Join(err, treeErr)
	}
	c.Process = countProcess()
	c.SIP = s.telephony.sip.Counters()
	c.Media = mediaCounters{Sessions: s.telephony.media.Live(), Ports: s.telephony.media.Ports()}
	c.Traces.Calls, c.Traces.Unclaimed = s.telephony.traces.CountDialogs()
	return c, err
}

// countProcess reads the counters of the Go runtime and of the operating system.
func countProcess() processCounters {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := processCounters{Goroutines: runtime.NumGoroutine(), HeapInUse: m.HeapInuse, HeapLive: m.HeapAlloc, Objects: m.HeapObjects}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Files = len(open) - 1 // without the descriptor that reads the folder
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := bytes.Fields(text); len(f) > 1 {
			pages, _ := strconv.ParseUint(string(f[1]), 10, 64)
			p.Resident = pages * uint64(os.Getpagesize()) //nolint:gosec // the page size is positive
		}
	}
	return p
}
