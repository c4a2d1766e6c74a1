package calls

import (
	"context"
	"sync/atomic"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
)

// ListenMode says which parties of a call hear the listener. The listener hears both parties in each mode.
type ListenMode string

// The modes of a listener.
const (
	Listen  ListenMode = "listen"  // no party hears the listener
	Whisper ListenMode = "whisper" // only the agent's side hears the listener
	Barge   ListenMode = "barge"   // both parties hear the listener
)

// The format of the audio to and from a listener is µ-law with one channel. ListenRate is the sampling rate in Hz,
// and ListenFrame is the length of a 20 ms frame in bytes.
const (
	ListenRate  = 8000
	ListenFrame = 160
)

// LiveAudio is the connection of a listener to a call.
type LiveAudio struct {
	Say   func(mu []byte) // sends audio of any length, paced in real time; ignored in mode listen
	Leave func()          // ends listening; may be called more than once
}

// ListenCall connects a listener to a live call. The function out receives the audio frames. It must neither block nor
// call Leave. Errors: not_found, invalid_state, unavailable.
func (s *Service) ListenCall(ctx context.Context, p domain.Principal, callID string, mode ListenMode, out func(frame []byte)) (LiveAudio, error) {
	c, pid, err := s.liveCall(ctx, p, callID)
	if err != nil {
		return LiveAudio{}, err
	}
	modes := map[ListenMode]media.TapMode{Listen: media.Listen, Whisper: media.Whisper, Barge: media.Barge}
	var abandoned atomic.Bool // ListenCall has returned an error; if the tap was opened after all, its first frame closes the tap
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
	return LiveAudio{Say: got.Tap.Speak, Leave: got.Tap.Close}, nil
}
