package actors

import (
	"context"
	"sync/atomic"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// ListenCall lets somebody listen to a live call; see calls.LiveAudio. out must
// neither block nor leave.
func (d *Desk) ListenCall(ctx context.Context, p domain.Principal, callID string, mode calls.ListenMode, out func(frame []byte)) (calls.LiveAudio, error) {
	c, err := record.LiveCall(ctx, d.store, p, callID)
	if err != nil {
		return calls.LiveAudio{}, err
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return calls.LiveAudio{}, err
	}
	taps := map[calls.ListenMode]media.TapMode{calls.Listen: media.Listen, calls.Whisper: media.Whisper, calls.Barge: media.Barge}
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
		return calls.LiveAudio{}, err
	}
	return calls.LiveAudio{Say: got.Tap.Say, Leave: got.Tap.Close}, nil
}
