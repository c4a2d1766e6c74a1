package calls

// ListenMode is what somebody who listens to a call may do besides.
type ListenMode string

// The modes.
const (
	Listen  ListenMode = "listen"  // hears both sides, is heard by nobody
	Whisper ListenMode = "whisper" // is heard by the agent's side only
	Barge   ListenMode = "barge"   // is heard by both
)

// ListenRate is the sampling rate of what is heard and said: µ-law, one
// channel. ListenFrame is the length of a frame in bytes, 20 ms.
const (
	ListenRate  = 8000
	ListenFrame = 160
)

// LiveAudio is that of one who listens to a call.
type LiveAudio struct {
	Say   func(mu []byte) // of any length, at the pace at which it shall be heard; ignored where the mode is listen
	Leave func()          // as often as one likes
}
