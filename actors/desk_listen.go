package actors

import (
	"context"
	"sync/atomic"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/service/record"
)

// ListenCall lets somebody listen to a live call; see ask.Seat. out must
// neither block nor leave.
func (d *Desk) ListenCall(ctx context.Context, p domain.Principal, callID string, mode ask.ListenMode, out func(frame []byte)) (ask.Seat, error) {
	c, err := record.LiveCall(ctx, d.store, p, callID)
	if err != nil {
		return ask.Seat{}, err
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return ask.Seat{}, err
	}
	taps := map[ask.ListenMode]media.TapMode{ask.Listen: media.Listen, ask.Whisper: media.Whisper, ask.Barge: media.Barge}
	var left atomic.Bool // nobody waits for the answer any more: whoever still hears closes the tap itself
	held := make(chan *media.Tap, 1)
	heard := func(frame []byte) {
		if !left.Load() {
			out(frame)
			return
		}
		select {
		case tap := <-held:
			go tap.Close()
		default:
		}
	}
	m := call.Listen{CallID: c.ID, Mode: taps[mode], Out: heard, Held: held}
	got, err := mailbox.Ask[call.Listening](ctx, d.node.sys, t.calls, m)
	if err != nil {
		left.Store(true)
		return ask.Seat{}, err
	}
	return ask.Seat{Say: got.Tap.Say, Leave: got.Tap.Close}, nil
}
