package campaign

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

const scriptLimit = 10 * time.Second

// callScript is the script of the campaign's calls. The campaign reads it when it starts, and the commit of the start
// stores it, so that later changes to the agent do not affect the campaign.
type callScript struct {
	current *domain.Script // nil: not read yet
	pinned  bool           // current is stored
	reading bool
}

// adopt uses the script that the store holds for the campaign. nil means that none is stored.
func (s *callScript) adopt(stored *domain.Script) {
	s.pinned = stored != nil
	if s.pinned {
		s.current = stored
	}
}

// read starts to read the script of a campaign, unless a read is in progress. The reply is a scriptRead message.
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
