//go:build failpoints

package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// withHoldFailpoint lets a test kill the service between two steps. FAILPOINT_HOLD names a file whose lines select store
// operations. A selected operation blocks for ever, and its line is appended to the file with the suffix ".held".
//
// The file has lines such as:
//
//	KIND+KIND 3 before    blocks before the third and each later commit of records of all these kinds.
//	KIND+KIND 3 after     blocks after the third and each later such commit.
//	read:KIND 2 before    blocks before the second and each later read of a record of this kind.
//
// The kind "answer" is the stored reply to a request with an Idempotency-Key.
func withHoldFailpoint(s storecache.Backend) storecache.Backend {
	path := os.Getenv("FAILPOINT_HOLD")
	if path == "" {
		return s
	}
	return &holdStore{Backend: s, path: path, seen: make(map[string]int)}
}

type holdStore struct {
	storecache.Backend
	path string
	mu   sync.Mutex
	seen map[string]int // number of selected operations by line
}

// matchingLine returns the line of the file that selects the current operation, or "" if none does. after is true if the
// operation must block after its execution.
func (h *holdStore) matchingLine(kinds func(string) bool) (line string, after bool) {
	text, _ := os.ReadFile(h.path)
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range strings.Lines(string(text)) {
		var names, when string
		n := 0
		if _, err := fmt.Sscanf(l, "%s %d %s", &names, &n, &when); err != nil {
			continue
		}
		missing := func(name string) bool { return !kinds(name) }
		if slices.ContainsFunc(strings.Split(names, "+"), missing) {
			continue
		}
		h.seen[l]++
		if h.seen[l] >= n {
			line, after = strings.TrimSpace(l), when == "after"
		}
	}
	return line, after
}

// hold appends the line to the file with the suffix ".held" and blocks for ever.
func (h *holdStore) hold(line string) {
	h.mu.Lock()
	held, _ := os.ReadFile(h.path + ".held")
	_ = os.WriteFile(h.path+".held", append(held, line+"\n"...), 0o600)
	h.mu.Unlock()
	select {}
}

// Apply commits a change, and blocks before or after the commit if a line of the file selects it.
func (h *holdStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	line, after := h.matchingLine(func(kind string) bool {
		return slices.ContainsFunc(c.Puts, func(r domain.Record) bool {
			return r.Key().Kind == kind || kind == "answer" && isIdempotencyReply(r)
		})
	})
	if line != "" && !after {
		h.hold(line)
	}
	events, err := h.Backend.Apply(ctx, c)
	if line != "" && err == nil {
		h.hold(line)
	}
	return events, err
}

// Get reads a record, and blocks before the read if a line of the file selects it.
func (h *holdStore) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if line, _ := h.matchingLine(func(kind string) bool { return kind == "read:"+into.Key().Kind }); line != "" {
		h.hold(line)
	}
	return h.Backend.Get(ctx, into)
}

// isIdempotencyReply reports whether a record is the stored reply to a request with an Idempotency-Key.
func isIdempotencyReply(r domain.Record) bool {
	if r.Key().Kind != "once" {
		return false
	}
	text, err := json.Marshal(r)
	return err == nil && bytes.Contains(text, []byte(`"done":true`))
}
