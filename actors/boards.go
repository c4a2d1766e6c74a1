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
	all sync.Map // boardKey → *board
}

type boardKey struct{ workspace, id string }

type board struct {
	status *domain.CampaignStatusObject
	since  time.Time
}

// show puts a status up; nil takes it down.
func (b *boards) show(workspace, id string, s *domain.CampaignStatusObject) {
	if s == nil {
		b.all.Delete(boardKey{workspace, id})
		return
	}
	b.all.Store(boardKey{workspace, id}, &board{s, time.Now()})
}

// of is a campaign's status, if one is up and young enough.
func (b *boards) of(workspace, id string) (domain.CampaignStatusObject, bool) {
	v, ok := b.all.Load(boardKey{workspace, id})
	if !ok {
		return domain.CampaignStatusObject{}, false
	}
	up, ok := v.(*board)
	if !ok || time.Since(up.since) >= boardFor {
		return domain.CampaignStatusObject{}, false
	}
	return *up.status, true
}
