package actors

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// orphanFor is how long a dialog of a process that ended keeps its line and
// channel, unless its BYE is answered before (64 times T1).
const orphanFor = 32 * time.Second

// orphan is an attempt that an earlier process left open, with the number of
// its far end; "": its call is not known.
type orphan struct {
	*domain.Attempt
	number string
}

// orphansOf finds the numbers of attempts whose dialogs may still live.
func (n *Node) orphansOf(ctx context.Context, attempts []*domain.Attempt) ([]orphan, error) {
	var out []orphan
	for _, a := range attempts {
		if open(a) == 0 {
			continue
		}
		c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
		if _, err := n.cfg.Store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, err
		}
		number := c.To
		if c.Direction == domain.Inbound {
			number = c.From
		}
		out = append(out, orphan{a, number})
	}
	return out, nil
}

// open counts the legs without a final answer.
func open(a *domain.Attempt) int {
	legs := 0
	for _, leg := range a.Legs {
		if !leg.Closed {
			legs++
		}
	}
	return legs
}

// orphans are the numbers that may ring or talk yet because of an earlier
// process: nobody else may be on the line with them. An owner of the numbers
// that is restarted finds them here.
type orphans struct {
	mu   sync.Mutex
	live map[string]*held // by call
}

type held struct {
	numbers.Live
	legs int
}

func (o *orphans) keep(all []orphan, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live = make(map[string]*held, len(all))
	for _, a := range all {
		o.live[a.CallID] = &held{numbers.Live{CallID: a.CallID, Number: a.number, Environment: a.Environment, Until: until}, open(a.Attempt)}
	}
}

// now are those that are left.
func (o *orphans) now() []numbers.Live {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]numbers.Live, 0, len(o.live))
	for _, h := range o.live {
		out = append(out, h.Live)
	}
	return out
}

// gone: a leg has ended. last says whether its call has none any more.
func (o *orphans) gone(callID string) (last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.live[callID]
	if h == nil {
		return false
	}
	if h.legs--; h.legs > 0 {
		return false
	}
	delete(o.live, callID)
	return true
}

// endOrphans ends the dialogs of an earlier process; until that is done they
// keep their lines, channels and numbers.
func (n *Node) endOrphans(t *tree, all []orphan) {
	for _, a := range all {
		linesPID := t.outbound
		if a.Direction == domain.Inbound {
			linesPID = t.inbound
		}
		for _, leg := range a.Legs {
			if leg.Closed {
				continue
			}
			state := sip.DialogState{CallID: leg.SIPCallID, Inbound: a.Direction == domain.Inbound}
			if len(leg.Dialog) > 0 {
				state.Inbound = false // it says so itself; a second leg is one of ours
				if err := json.Unmarshal(leg.Dialog, &state); err != nil {
					n.cfg.Log.Warn("the dialog of an interrupted call cannot be read", slog.String("call_id", a.CallID), slog.Any("error", err))
				}
			}
			until := time.Now().Add(orphanFor)
			n.sys.Root.Send(linesPID, lines.Hold{CallID: a.CallID, Until: until})
			n.sys.Root.Send(t.trunks, trunk.Hold{CallID: a.CallID, TrunkID: leg.TrunkID, Until: until})
			n.cfg.SIP.Orphan(state, func(bool) {
				if t.orphans.gone(a.CallID) {
					n.sys.Root.Send(t.numbers, numbers.Over{CallID: a.CallID})
				}
				n.sys.Root.Send(linesPID, lines.Free{CallID: a.CallID})
				n.sys.Root.Send(t.trunks, trunk.Free{CallID: a.CallID})
				if pid := n.campaignPID(a.WorkspaceID, a.CampaignID); a.CampaignID != "" && pid != nil {
					n.sys.Root.Send(pid, campaign.Gone{CallID: a.CallID})
				}
			})
		}
	}
}
