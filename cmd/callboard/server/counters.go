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

// countLimit is how long the parts may take to say what they keep.
const countersTimeout = 5 * time.Second

// counters are what the process keeps at one moment: GET /debug/counters of
// the admin listener, with ?gc=1 after a collection of garbage. It costs some
// questions to actors and a look at each port, no call waits for it.
type counters struct {
	Process processCounters    `json:"process"`
	Tree    actornode.Counters `json:"tree"`
	SIP     sip.Counters       `json:"sip"`
	Media   mediaCounters      `json:"media"`
	Traces  traceCounters      `json:"traces"`
}

type processCounters struct {
	Goroutines int    `json:"goroutines"`
	Files      int    `json:"files"`      // open descriptors
	HeapInUse  uint64 `json:"heap_inuse"` // bytes of spans in use
	HeapLive   uint64 `json:"heap_live"`  // bytes of objects, garbage not collected yet included
	Objects    uint64 `json:"objects"`
	Resident   uint64 `json:"resident"` // bytes, by the kernel; 0 where it does not tell
}

type mediaCounters struct {
	Sessions int           `json:"sessions"`
	Ports    media.PortUse `json:"ports"`
}

type traceCounters struct {
	Calls     int `json:"calls"`  // dialogs of live calls
	Unclaimed int `json:"strays"` // dialogs that no call has claimed: bounded, the oldest make room
}

// counterReader counts when it is asked.
type counterReader func(ctx context.Context) (counters, error)

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

// readCounters is the service's counter. With an error the tree is counted in part.
func (s *Service) readCounters(ctx context.Context) (c counters, err error) {
	for _, one := range s.shards.all() {
		tree, unread := one.actors.Counters(ctx)
		c.Tree.Add(&tree)
		err = errors.Join(err, unread)
	}
	c.Process = countProcess()
	c.SIP = s.telephony.sip.Counters()
	c.Media = mediaCounters{Sessions: s.telephony.media.Live(), Ports: s.telephony.media.Ports()}
	c.Traces.Calls, c.Traces.Unclaimed = s.telephony.traces.CountDialogs()
	return c, err
}

func countProcess() processCounters {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := processCounters{Goroutines: runtime.NumGoroutine(), HeapInUse: m.HeapInuse, HeapLive: m.HeapAlloc, Objects: m.HeapObjects}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Files = len(open) - 1 // less the one that reads the folder
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := bytes.Fields(text); len(f) > 1 {
			pages, _ := strconv.ParseUint(string(f[1]), 10, 64)
			p.Resident = pages * uint64(os.Getpagesize()) //nolint:gosec // a page has a size
		}
	}
	return p
}
