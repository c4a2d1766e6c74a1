package speech

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/media"
)

// LiveOrder tells an engine that hears and speaks by itself what a
// conversation is about.
type LiveOrder struct {
	Model         string // "": the engine's default
	Voice         string // likewise
	Language      string // as BCP 47 writes it
	Brief         string // its part
	History       []LiveLine
	Tools         []LiveTool
	Keywords      []string      // that are likely to be said
	EndOfTurn     time.Duration // so much silence ends the caller's turn; zero: the engine's default
	Interruptible bool          // words of the caller cut its own
	Speak         bool          // it has the word
	// About is what is told of the call to an engine of somebody's own, by name:
	// call_id, workspace_id, and more.
	About map[string]string
}

// LiveLine is something that was said before, or done.
type LiveLine struct {
	Caller bool
	Text   string
	Call   *LiveCall // what was done, Text being its result; nil: it was said
}

// LiveTool is something that the engine may want done.
type LiveTool struct {
	Name, Description string
	Parameters        map[string]any // JSON Schema
}

// LiveCall is something that it wants done. Arguments are a stranger's.
type LiveCall struct{ ID, Name, Arguments string }

// LiveKind is what a LiveEvent tells.
type LiveKind uint8

// The kinds of events. Item names what was said or heard.
const (
	LiveReady   LiveKind = iota + 1 // it hears
	LiveBegan                       // the caller begins to speak: Item
	LiveEnded                       // and stops
	LiveHeard                       // what he said: Item, Text
	LiveSounds                      // it speaks: Item, and Feed with what is there of it so far
	LiveSaid                        // what it says: Item, and Text so far
	LiveDone                        // its answer is over, but for the sound: Calls
	LiveLost                        // it is gone: Err. Nothing follows
	LiveIdle                        // it says nothing more for now, though it was no answer of which there are only so many
	LiveCleared                     // what was not heard yet of all that it says is taken back
	LiveLeft                        // it has no more to do with the caller, once he has heard what it says. Nothing follows
)

// LiveEvent is something that such an engine tells.
type LiveEvent struct {
	Kind  LiveKind
	Item  string
	Text  string
	Feed  *media.Feed
	Calls []LiveCall
	Err   error
}

// Live is a conversation with such an engine. Its methods return at once and
// may be called from any goroutine; Write may be called from the media clock.
type Live interface {
	Stream
	// Answer has it speak; text, where there is any, is told it as the caller's.
	Answer(text string)
	// Result tells how a LiveCall ended.
	Result(id, text string)
	// Cut tells that no more of an item was heard than this.
	Cut(item string, heard time.Duration)
	// Key tells that the caller has pressed one.
	Key(key byte)
}

// LiveEngine opens conversations. told is never called from within Open, a
// method of the Live, or twice at once.
type LiveEngine interface {
	Live(o LiveOrder, told func(LiveEvent)) Live
}

// LiveSource is such an engine with a name.
type LiveSource struct {
	Name   string
	Engine LiveEngine
	// Alone: it finds the caller's turns and interruptions by itself and tells
	// nothing of them, nor of words.
	Alone bool
}

// Lives are the engines of an installation that hear and speak by themselves.
type Lives struct {
	all   []*liveSource
	order []string
}

type liveSource struct {
	LiveSource
	health
}

// NewLives takes them; order names those that serve whoever names none.
func NewLives(all []LiveSource, order []string) *Lives {
	l := &Lives{order: order}
	for _, s := range all {
		l.all = append(l.all, &liveSource{LiveSource: s})
	}
	return l
}

// Has says whether there is an engine of the name, or any where it is "".
func (l *Lives) Has(name string) bool { return l != nil && len(l.chain(name)) > 0 }

// Alone says whether an engine that tells nothing of words may have the caller
// of whoever names this one.
func (l *Lives) Alone(name string) bool {
	return l != nil && slices.ContainsFunc(l.chain(name), func(s *liveSource) bool { return s.Alone })
}

// chain are the engines for a name.
func (l *Lives) chain(name string) (all []*liveSource) {
	names := l.order
	if name != "" {
		names = []string{name}
	}
	for _, n := range names {
		if i := slices.IndexFunc(l.all, func(s *liveSource) bool { return s.Name == n }); i >= 0 {
			all = append(all, l.all[i])
		}
	}
	return all
}

// ErrResting says that the engine has failed so often of late that it is left alone.
var ErrResting = errors.New("speech: the engine has failed too often, and rests")

// Open begins a conversation with the first engine for a name that is well, and
// says which it is.
func (l *Lives) Open(name string, o LiveOrder, told func(LiveEvent)) (Live, LiveSource, error) {
	all := l.chain(name)
	if len(all) == 0 {
		return nil, LiveSource{Name: name}, fmt.Errorf("speech: there is no engine %q", name)
	}
	now := time.Now()
	i := slices.IndexFunc(all, func(s *liveSource) bool { return !s.rests(now) })
	if i < 0 {
		return nil, all[0].LiveSource, ErrResting
	}
	s := all[i]
	if i > 0 { // they are names of the first one's
		o.Model, o.Voice = "", ""
	}
	return s.Engine.Live(o, func(e LiveEvent) {
		switch e.Kind { //nolint:exhaustive // the others tell nothing of its health
		case LiveReady:
			s.well()
		case LiveLost:
			if s.Alone { // nothing of an agent's choice is in what it is asked for
				s.ill(time.Now())
			} else {
				s.failed(e.Err, time.Now())
			}
		}
		told(e)
	}), s.LiveSource, nil
}
