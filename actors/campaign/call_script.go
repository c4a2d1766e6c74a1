package campaign

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

const scriptLimit = 10 * time.Second

// callScript is the script of the campaign's calls. It is read when the campaign starts, and the commit of the
// start pins it.
type callScript struct {
	current *domain.Script // nil: not read yet
	pinned  bool           // current is stored
	reading bool
}

// adopt takes over the stored script; nil: none.
func (s *callScript) adopt(stored *domain.Script) {
	s.pinned = stored != nil
	if s.pinned {
		s.current = stored
	}
}

// read requests the script of a campaign, unless a request is in progress. The reply is a scriptRead.
func (s *callScript) read(ctx actor.Context, cfg *Config, c domain.Campaign, incarnation uint64) {
	if s.reading {
		return
	}
	s.reading = true
	script := cfg.Script
	mailbox.RunTask(ctx, scriptLimit, func(bound context.Context) any {
		s, err := script(bound, &c)
		return scriptRead{incarnation, s, err}
	})
}
