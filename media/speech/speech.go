// Package speech turns text into clips. It knows no call and no node of a conversation: it is handed a text and returns its sound.
package speech

import (
	"context"

	"github.com/callboard/callboard/media"
)

// Request is what shall be said. Two equal requests sound the same.
type Request struct {
	Text  string // "wav:NAME.wav" plays that file of the prompt directory
	Voice string // engine's voice, as "en-us" or "de"; "": the engine's default
	Rate  int    // words a minute; 0: the engine's default
}

// Speaker turns text into sound.
type Speaker interface {
	Speak(ctx context.Context, r Request) (media.Clip, error)
}
