package calls

import (
	"context"
	"sync/atomic"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
)

// ListenMode says by whom a listener of a call is heard.
type ListenMode string

// The modes. A listener hears both sides of the call.
const (
	Listen  ListenMode = "listen"  // is heard by nobody
	Whisper ListenMode = "whisper" // is heard by the agent's side only
	Barge   ListenMode = "barge"   // is heard by both
)

// ListenRate is the sampling rate in Hz of what is heard and said: µ-law, one
// channel. ListenFrame is the length of a frame in bytes, 20 ms.
const (
	ListenRate  = 8000
	ListenFrame = 160
)

// LiveAudio is the connection of a listener to a call.
type LiveAudio struct {
	Say   func(mu []byte) // of any length, at the pace at which it shall be heard; ignored where the mode is listen
	Leave func()          // may be called more than once
}

// ListenCall connects a listener to a live call. out receives its audio and must
// neither block nor call Leave.
func (s *Service) ListenCall(ctx context.Context, p domain.Principal, callID string, mode ListenMode, out func(frame []byte)) (LiveAudio, error) {
	c, pid, err := s.liveCall(ctx, p, callID)
	if err != nil {
		return LiveAudio{}, err
	}
	modes := map[ListenMode]media.TapMode{Listen: media.Listen, Whisper: media.Whisper, Barge: media.Barge}
	var abandoned atomic.Bool // the answer came too late: the first frame closes the tap
	held := make(chan *media.Tap, 1)
	receive := func(frame []byte) {
		if !abandoned.Load() {
			out(frame)
			return
		}
		select {
		case tap := <-held:
			go tap.Close()
		default:
		}
	}
	m := call.AddListener{CallID: c.ID, Mode: modes[mode], OnFrame: receive, TapReceiver: held}
	got, err := mailbox.Ask[call.ListenerAdded](ctx, s.cfg.System, pid, m)
	if err != nil {
		abandoned.Store(true)
		return LiveAudio{}, err
	}
	return LiveAudio{Say: got.Tap.Say, Leave: got.Tap.Close}, nil
}
