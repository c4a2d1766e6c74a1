package actors

import (
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
)

// boardFor bounds how old a status on a board may be: what a campaign waits
// for changes with the time alone.
const boardFor = 100 * time.Millisecond

// boards are the statuses that campaigns have told last and that still hold:
// whoever only looks need not ask the actor again. The zero value is ready.
type boards struct {
	mu  sync.RWMutex
	all map[boardKey]board
}

type boardKey struct{ workspace, id string }

type board struct {
	status *domain.CampaignStatusObject
	since  time.Time
}

// show puts a status up, written as it is answered: it stands there for all who
// look. nil takes it down.
func (b *boards) show(workspace, id string, s *domain.CampaignStatusObject) {
	if s != nil {
		s = s.Written()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s == nil {
		delete(b.all, boardKey{workspace, id})
		return
	}
	if b.all == nil {
		b.all = make(map[boardKey]board)
	}
	b.all[boardKey{workspace, id}] = board{s, time.Now()}
}

// of is a campaign's status, if one is up and young enough; nil: none. It is
// shared and must not be changed.
func (b *boards) of(workspace, id string) *domain.CampaignStatusObject {
	b.mu.RLock()
	up, ok := b.all[boardKey{workspace, id}]
	b.mu.RUnlock()
	if !ok || time.Since(up.since) >= boardFor {
		return nil
	}
	return up.status
}
